"""The whole event stream of a request, for tests of a service."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tts.api.sse import parse_sse
from tts.domain.events import Event


@dataclass(slots=True)
class EventStream:
    """The events of a request, and why it failed; an empty `failure` if it has one answer and its last event is
    `done`."""

    events: list[Event] = field(default_factory=list)
    failure: str = ""


async def locate(
    client: httpx.AsyncClient, url: str, photo: bytes, on_event: Callable[[Event], None] | None = None, **fields: Any
) -> EventStream:
    """Send one photo, with `fields` as options, and read its stream to the end. `on_event` gets each event as it
    comes."""
    headers, data = {"Accept": "text/event-stream"}, {name: str(value) for name, value in fields.items()}
    async with client.stream("POST", f"{url}/locate", files={"image": photo}, data=data, headers=headers) as reply:
        if reply.status_code != httpx.codes.OK:
            return EventStream(failure=f"{reply.status_code}: {(await reply.aread()).decode(errors='replace')}")
        events = []
        async for event in parse_sse(reply.aiter_lines()):
            events.append(event)
            if on_event is not None:
                on_event(event)
    kinds = [event.type for event in events]
    whole = kinds[-1:] == ["done"] and kinds.count("answer") == 1
    return EventStream(events, "" if whole else f"the stream ended with {kinds[-2:]}")
