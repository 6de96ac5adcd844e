"""Makes replies from an event log: a stream of events, or the fold of all events."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager
from typing import Literal, cast

import orjson
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from deployments.gateway.gateway import Gateway
from deployments.http.problems import problem_reply
from tts.aio import closing
from tts.api.schema import problem_of_failure, response_of
from tts.api.sse import HEARTBEAT, ndjson_line, sse_frame
from tts.domain.events import Failed
from tts.domain.geojson import answer_geojson
from tts.domain.outline import NO_OUTLINES, AnswerOutlines
from tts.domain.trajectory import Run
from tts.export.formats import FORMATS

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
GEOJSON = "application/geo+json"
JSON = "application/json"
EXPORTS = {one.media_type: one for one in FORMATS.values() if one.media_type != GEOJSON}
ANSWERS = (JSON, GEOJSON)
STREAMS = (SSE, NDJSON)
NO_STORE = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
Include = Literal["none", "summary", "full"]


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
    body = _frames(gateway, request_id, after, ndjson=media_type == NDJSON)
    return AttendedStream(body, attended, media_type=media_type, headers={**NO_STORE, **headers})


async def _frames(gateway: Gateway, request_id: str, after: int, *, ndjson: bool) -> AsyncIterator[bytes]:
    async with closing(gateway.follow(request_id, after=after)) as entries:
        async for entry in entries:
            if entry is not None:
                yield ndjson_line(entry.payload) if ndjson else sse_frame(entry.seq, entry.kind, entry.payload)
            else:
                yield b"\n" if ndjson else HEARTBEAT


def reply(
    request_id: str,
    run: Run,
    include: str,
    media_type: str,
    headers: Mapping[str, str],
    outlines: AnswerOutlines = NO_OUTLINES,
) -> Response:
    """The answer as one of `ANSWERS`, or the problem that came instead of one. `outlines` are drawn in GeoJSON."""
    all_headers = {**NO_STORE, **headers}
    if run.failure is not None or run.answer is None:
        return no_answer(run, f"/locate/{request_id}", all_headers)
    if media_type == GEOJSON:
        return Response(orjson.dumps(answer_geojson(run.answer, outlines)), media_type=GEOJSON, headers=all_headers)
    response = response_of(request_id, run.answer, run, cast(Include, include))
    return Response(response.json_bytes(), media_type=JSON, headers=all_headers)


def no_answer(run: Run, instance: str, headers: Mapping[str, str]) -> Response:
    """The problem that a run without an answer ended with."""
    failure = run.failure or Failed(code="cancelled", status=503, detail="the request was cancelled")
    retry = {"Retry-After": str(max(1, math.ceil(failure.retry_after_s or 1.0)))} if failure.status == 503 else {}
    return problem_reply(problem_of_failure(failure, instance=instance), {**headers, **retry})
