"""Makes replies from the fold of all events of a request. Names the media types and headers of all replies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, cast

import orjson
from starlette.responses import Response

from deployments.http.problems import problem_reply
from tts.api.schema import problem_of_failure, response_of
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
