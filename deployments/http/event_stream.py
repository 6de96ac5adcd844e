"""Streams the event log of a request, as server-sent events or NDJSON, while its reader is there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from deployments.gateway.gateway import Gateway
from deployments.http.replies import NDJSON, NO_STORE
from tts.aio import closing, coalesce
from tts.api.sse_frame import HEARTBEAT, ndjson_line, sse_frame

_MAX_FRAMES = 16  # that wait for a slow reader; the others stay in the log


class AttendedStream(StreamingResponse):
    """A stream that is attended from the moment it is made: also a client that is gone before its first byte is
    noticed.
    """

    def __init__(
        self,
        body: AsyncIterator[bytes],
        attended: AbstractContextManager[None],
        *,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(body, media_type=media_type, headers=headers)
        self._reader_context = attended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; the reader counts as gone when this ends, however it ends."""
        with self._reader_context:
            await super().__call__(scope, receive, send)


def event_stream(
    gateway: Gateway,
    request_id: str,
    media_type: str,
    *,
    after: int = 0,
    attended: AbstractContextManager[None],
    headers: Mapping[str, str],
) -> Response:
    """The log from `after` on, as one of `STREAMS`."""
    body = _chunks(_frames(gateway, request_id, after, ndjson=media_type == NDJSON))
    return AttendedStream(body, attended, media_type=media_type, headers={**NO_STORE, **headers})


async def _chunks(frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The frames that are there at the same time, as one chunk: each chunk costs a call of the system."""
    async with closing(coalesce(frames, window_s=0.0, maxsize=_MAX_FRAMES)) as batches:
        async for batch in batches:
            yield b"".join(batch)


async def _frames(gateway: Gateway, request_id: str, after: int, *, ndjson: bool) -> AsyncIterator[bytes]:
    async with closing(gateway.follow(request_id, after=after)) as entries:
        async for entry in entries:
            if entry is not None:
                yield ndjson_line(entry.payload) if ndjson else sse_frame(entry.seq, entry.kind, entry.payload)
            else:
                yield b"\n" if ndjson else HEARTBEAT
