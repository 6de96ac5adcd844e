"""Parses server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from pydantic import ValidationError

from geotts_client.events import EVENT, Event


async def parse_sse(lines: AsyncIterator[str]) -> AsyncGenerator[Event, None]:
    """Parse the events of a stream. An unfinished frame is dropped.

    Comments, kinds of events and fields that this client does not know are skipped: a newer service may send them.

    Args:
        lines: the lines of the body, without the ends of line.

    Yields:
        The events in the order of the stream, as soon as each frame is complete.

    Raises:
        pydantic.ValidationError: a frame of a known kind is not an event of this schema version.
    """
    data: list[str] = []
    async for line in lines:
        if line == "":
            if data and (event := _parse_event("\n".join(data))) is not None:
                yield event
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


def _parse_event(data: str) -> Event | None:
    """None for a kind of event that is not known here."""
    try:
        return EVENT.validate_json(data, extra="ignore")
    except ValidationError as error:
        if [wrong["type"] for wrong in error.errors(include_url=False)] == ["union_tag_invalid"]:
            return None
        raise
