"""`traceparent` and `tracestate`: the trace of the caller, which a request joins (W3C Trace Context)."""

from __future__ import annotations

from starlette.datastructures import Headers

from tts.domain.trace_context import TraceContext, trace_context


def trace_of(headers: Headers) -> TraceContext | None:
    """The trace that the headers of a request name. Several lines of `tracestate` are one list."""
    return trace_context(headers.get("traceparent"), ",".join(headers.getlist("tracestate")))
