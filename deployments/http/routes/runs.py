"""A request after its start: its state, events, files and cancellation."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext, suppress
from typing import Annotated, cast

import orjson
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.http.accept_header import choose_media_type, require_acceptable
from deployments.http.event_stream import event_stream
from deployments.http.openapi import EVENTS, FILE, PROBLEMS, STATUS
from deployments.http.replies import ANSWERS, EXPORTS, GEOJSON, JSON, NO_STORE, STREAMS, Include
from deployments.http.request_body import Malformed
from deployments.http.request_headers import preferences
from deployments.http.service import Service
from deployments.wiring.answer_outlines import answer_outlines
from tts.api.schema import Cancelled, RunStatus, status_of
from tts.domain.geojson import answer_geojson
from tts.domain.request import REQUEST_ID
from tts.errors import NotFound
from tts.export.export_source import located_from

RequestId = Annotated[str, InPath(pattern=f"^{REQUEST_ID}$", examples=["loc_6f1d0c9a3b2e4d5f7a81"])]
Sha256 = Annotated[str, InPath(pattern=r"^[0-9a-f]{64}$")]
PICTURE_HEADERS = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": "default-src 'none'"}
_LAST_EVENT_HEADER = re.compile(r"[0-9]{1,12}")
_WHOLE_SECONDS = re.compile(r"[0-9]{1,6}")
_LONGEST_WAIT_S = 60.0


def add_runs(app: FastAPI, service: Service) -> None:
    """Add the routes under `/locate/{request_id}` to `app`: state, events, cancellation and files."""
    router = APIRouter(prefix="/locate/{request_id}", tags=["runs"], responses=PROBLEMS)
    gateway = service.gateway

    @router.get("", response_model=RunStatus, openapi_extra=STATUS, operation_id="status")
    async def status(request: Request, request_id: RequestId) -> Response:
        """The state of a request, with its answer when it has one."""
        meta = await gateway.meta(request_id, service.caller(request))
        media_type = choose_media_type(request.headers.getlist("accept"), (*ANSWERS, *EXPORTS))
        await _wait_as_preferred(request, service, request_id)
        run = await gateway.current_run(request_id)
        status_body = status_of(request_id, run, cast(Include, meta.include))
        headers = {**NO_STORE, "X-Request-Id": request_id}
        if status_body.status == "running":
            headers["Retry-After"] = "1"
        if status_body.answer is None or media_type == JSON:
            return Response(status_body.json_bytes(), media_type=JSON, headers=headers)
        drawn = await asyncio.to_thread(answer_outlines, status_body.answer, service.args.data_dir)
        if media_type == GEOJSON:
            body = orjson.dumps(answer_geojson(status_body.answer, drawn))
            return Response(body, media_type=GEOJSON, headers=headers)
        located = located_from(request_id, run).model_copy(update={"outlines": drawn})
        exported = await asyncio.to_thread(EXPORTS[media_type].write, [located])
        return Response(exported, headers={**headers, "Content-Type": media_type})

    @router.get("/events", openapi_extra=EVENTS, operation_id="events", response_class=Response)
    async def events(request: Request, request_id: RequestId) -> Response:
        """The events from the start, or those after `Last-Event-ID`: exactly the events of a stream that was never
        interrupted. The status is 204 if the request has ended and no event follows. An EventSource then does
        not connect again."""
        meta = await gateway.meta(request_id, service.caller(request))
        media_type = choose_media_type(request.headers.getlist("accept"), STREAMS)
        after = _last_event_id(request)
        if after and await gateway.is_past(request_id, after):
            return Response(status_code=204, headers={**NO_STORE, "X-Request-Id": request_id})
        attended = gateway.attach_reader(request_id, meta.grace_s) if meta.grace_s > 0 else nullcontext()
        return event_stream(
            gateway, request_id, media_type, after=after, attended=attended, headers={"X-Request-Id": request_id}
        )

    @router.delete("", response_model=Cancelled, operation_id="cancel", dependencies=[require_acceptable(JSON)])
    async def cancel(request: Request, request_id: RequestId, erase: Annotated[bool, Query()] = False) -> Response:
        """Stop the work. With `?erase=true`, all data of the request are erased too. The reply comes when this is
        done."""
        await gateway.meta(request_id, service.caller(request))
        was_running = await gateway.cancel(request_id)
        erased = erase and await gateway.erase(request_id)
        cancelled = Cancelled(request_id=request_id, was_running=was_running, erased=erased)
        return Response(cancelled.json_bytes(), media_type=JSON, headers=NO_STORE)

    @router.get("/files/{sha256}", openapi_extra=FILE, operation_id="file", response_class=Response)
    async def file(request: Request, request_id: RequestId, sha256: Sha256) -> Response:
        """A picture that an event names: the cleaned photo, or a map."""
        meta = await gateway.meta(request_id, service.caller(request))
        found = await gateway.file(meta, sha256)
        if found is None:
            raise NotFound("this request has no such file")
        return Response(found.data, media_type=found.media_type, headers=PICTURE_HEADERS)

    app.include_router(router)


async def _wait_as_preferred(request: Request, service: Service, request_id: str) -> None:
    wanted = preferences(request).get("wait", "")
    if not _WHOLE_SECONDS.fullmatch(wanted) or not int(wanted):
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(min(_LONGEST_WAIT_S, int(wanted))):
            await service.gateway.result(request_id)


def _last_event_id(request: Request) -> int:
    stated = request.headers.get("last-event-id", "").strip()
    if not stated:
        return 0
    if not _LAST_EVENT_HEADER.fullmatch(stated):
        raise Malformed("Last-Event-ID must be the id of an event")
    return int(stated)
