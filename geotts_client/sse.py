"""Reads server-sent events (WHATWG HTML, section 9.2), also those of a newer service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from pydantic import ValidationError

from geotts_client.events import EVENT, Event


async def parse_sse(lines: AsyncIterator[str]) -> AsyncGenerator[Event, None]:
    """Events from the lines of a stream; an unfinished frame is dropped.

    Comments are skipped, and what a newer service may have added: kinds of events and fields that this client does
    not know. Raises pydantic.ValidationError when a frame of a known kind is not an event of this schema version.
    """
    data: list[str] = []
    async for line in lines:
        if line == "":
            if data and (event := _event("\n".join(data))) is not None:
                yield event
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


def _event(data: str) -> Event | None:
    """None for a kind of event that is not known here."""
    try:
        return EVENT.validate_json(data, extra="ignore")
    except ValidationError as error:
        if [wrong["type"] for wrong in error.errors(include_url=False)] == ["union_tag_invalid"]:
            return None
        raise
