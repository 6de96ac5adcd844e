"""Server-sent events (WHATWG HTML, section 9.2) and NDJSON from the same events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from tts.domain.events import Event, parse_event

HEARTBEAT = b": keep-alive\n\n"


def sse_frame(seq: int, kind: str, payload: bytes) -> bytes:
    """One event; JSON has no raw newlines, so one `data:` line is enough."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), payload)


def ndjson_line(payload: bytes) -> bytes:
    return payload + b"\n"


async def parse_sse(lines: AsyncIterator[str]) -> AsyncGenerator[Event, None]:
    """Events from the lines of a stream; comments and unknown fields are skipped, an unfinished frame is dropped.

    Raises pydantic.ValidationError when a frame is not an event of this schema version.
    """
    data: list[str] = []
    async for line in lines:
        if line == "":
            if data:
                yield parse_event("\n".join(data))
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
