"""What the headers of a request ask: idempotency, a trace to join, and preferences."""

from __future__ import annotations

import re

from starlette.requests import Request

from deployments.http.request_body import Malformed
from tts.domain.trace_context import TraceContext, trace_context

_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def idempotency_key(request: Request) -> str | None:
    """`Idempotency-Key`: the same request under the same key never runs twice (an IETF draft of the HTTPAPI group).

    None without one. Raises Malformed for one that is none.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    key = key.strip('"')
    if not _KEY.fullmatch(key):
        raise Malformed("Idempotency-Key must be 1 to 200 visible ASCII characters")
    return key


def trace_of(request: Request) -> TraceContext | None:
    """`traceparent` and `tracestate`: the trace of the caller, which a request joins (W3C Trace Context). Several lines
    of `tracestate` are one list.
    """
    headers = request.headers
    return trace_context(headers.get("traceparent"), ",".join(headers.getlist("tracestate")))


def preferences(request: Request) -> dict[str, str]:
    """The header `Prefer` (RFC 7240, section 2) as name → value, without parameters. If a name occurs twice, the
    first counts.
    """
    values = ",".join(request.headers.getlist("prefer")).split(",")
    words = [word.partition(";")[0].strip().partition("=") for word in values]
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in reversed(words) if name}
