"""Which trace a request has, for log lines that are written about it when none of its spans is running: the line of an
HTTP reply comes after the work, and not from within it.
"""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

_MAX_TRACES = 4096


class RequestTraces(SpanProcessor):
    """Sees each span begin and remembers, of the last requests of this process, the trace."""

    def __init__(self) -> None:
        self._traces: dict[str, str] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember the trace of a span that names a `request_id`; the oldest request goes when there are too many."""
        request_id = (span.attributes or {}).get("request_id")
        if not isinstance(request_id, str):
            return
        self._traces[request_id] = f"{span.get_span_context().trace_id:032x}"
        if len(self._traces) > _MAX_TRACES:
            del self._traces[next(iter(self._traces))]

    def trace_of(self, request_id: str) -> str | None:
        """32 hexadecimal digits; None for a request that was not traced here, or is long gone."""
        return self._traces.get(request_id)
