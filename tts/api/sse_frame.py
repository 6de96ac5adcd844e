"""Server-sent events (WHATWG HTML, section 9.2) and NDJSON from the same events."""

from __future__ import annotations

from geotts_client.sse import parse_sse

__all__ = ["HEARTBEAT", "ndjson_line", "parse_sse", "sse_frame"]

HEARTBEAT = b": keep-alive\n\n"


def sse_frame(seq: int, kind: str, payload: bytes) -> bytes:
    """One event; JSON has no raw newlines, so one `data:` line is enough."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), payload)


def ndjson_line(payload: bytes) -> bytes:
    """One event as one line; JSON has no raw newlines."""
    return payload + b"\n"
