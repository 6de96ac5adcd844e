"""Where in a trace something happens, as it travels between processes: W3C Trace Context, level 1."""

from __future__ import annotations

import re

from tts.domain.value import Value

_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_STATE = re.compile(r"[\x20-\x7e]{1,512}")  # as many characters as everybody has to pass on


class TraceContext(Value):
    """The two headers: the span that is the parent, and what tracing systems add to it for themselves."""

    traceparent: str
    tracestate: str = ""

    def headers(self) -> dict[str, str]:
        """As they are sent along."""
        state = {"tracestate": self.tracestate} if self.tracestate else {}
        return {"traceparent": self.traceparent, **state}


def trace_context(traceparent: object, tracestate: object = None) -> TraceContext | None:
    """What a caller sent; None without a valid `traceparent`. An invalid `tracestate` is left out."""
    if not isinstance(traceparent, str) or _PARENT.fullmatch(traceparent.strip()) is None:
        return None
    state = tracestate.strip() if isinstance(tracestate, str) else ""
    return TraceContext(traceparent=traceparent.strip(), tracestate=state if _STATE.fullmatch(state) else "")
