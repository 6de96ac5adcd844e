"""`/v1/responses`: the pipeline for clients of OpenAI's Responses API, with streams, background and resumption."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import nullcontext
from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.gateway.arrival import Fetch, LocateBody
from deployments.gateway.auth import Caller
from deployments.gateway.gateway import Gateway
from deployments.gateway.logged_request import logged_events
from deployments.gateway.uploads import Uploads
from deployments.gateway.webhooks import HEADER
from deployments.http.accept_header import require_acceptable
from deployments.http.disconnect import while_connected
from deployments.http.event_stream import AttendedStream
from deployments.http.middleware.access_log import name_in_log
from deployments.http.openapi import (
    NOTHING_WORKED,
    OPENAI_REPLY,
    PROBLEMS,
    SHORTENED_PHOTO,
    WEBHOOK,
    body_for_openai_client,
)
from deployments.http.replies import JSON, NO_STORE, SSE, no_answer
from deployments.http.request_body import (
    addition_from,
    few_photos,
    options_from,
    photos_from,
    read_json,
    value_from,
)
from deployments.http.request_headers import idempotency_key
from deployments.http.routes.locate import start_body
from deployments.http.service import Service
from deployments.runstore import RunMeta
from deployments.runstore.stored_values import event_of
from tts.aio import closing, spawn
from tts.api.responses import ResponseFold, ResponsesRequest, request_id
from tts.api.sse_frame import HEARTBEAT
from tts.domain.events import Event
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold
from tts.errors import NotFound, RequestError

ResponseId = Annotated[str, InPath(pattern=r"^resp_[0-9a-f]{20}$", examples=["resp_6f1d0c9a3b2e4d5f7a81"])]
_IMAGE_EXAMPLE = {"type": "input_image", "image_url": f"data:image/jpeg;base64,{SHORTENED_PHOTO}"}
_EXAMPLE = {"model": "geotts", "input": [{"role": "user", "content": [_IMAGE_EXAMPLE]}]}


def add_responses(app: FastAPI, service: Service, uploads: Uploads) -> None:
    """Add `POST /v1/responses` and the routes of one response to `app`."""
    router = APIRouter(prefix="/v1/responses", tags=["openai"], responses=PROBLEMS)
    gateway = service.gateway

    @router.post(
        "",
        responses=NOTHING_WORKED,
        openapi_extra=body_for_openai_client(ResponsesRequest, _EXAMPLE, WEBHOOK),
        operation_id="create_response",
        response_class=Response,
        dependencies=[require_acceptable(JSON, SSE)],  # the body chooses
    )
    async def create(request: Request) -> Response:
        """Where were the images of this input taken? The text is the answer as JSON; the summary of the reasoning has
        the steps that led to it. Options of `/locate` go into `geotts`. With `background` the reply comes at once. With
        `previous_response_id`, the text of `input` is a new fact about the earlier photos, as in
        `/locate/{request_id}/continue`."""
        caller = await service.caller_within_rate(request)
        webhook = gateway.webhooks.check_url(request.headers.get(HEADER))
        async with gateway.receive_request(caller) as arrival:
            name_in_log(request.scope, arrival.request_id)
            fetch = arrival.fetch_from(service.fetch)
            openai_request, found = await _read_request(request, service, uploads, caller, fetch)
            options = found.options
            background, key = openai_request.background, idempotency_key(request)
            followed = openai_request.stream or background
            started, named = await start_body(
                request, service, arrival, found, key, followed=followed, attended=not background, webhook=webhook
            )
        id_ = started.request_id
        headers = {**NO_STORE, **named}
        meta = await gateway.meta(id_, caller)
        attended = (
            nullcontext() if background else gateway.attach_reader(id_, options.resume_grace_s, joins=started.replayed)
        )
        if openai_request.stream:
            body = _frames(gateway, meta, forget=openai_request.store is False)
            return AttendedStream(body, attended, media_type=SSE, headers=headers)
        if background:
            return _json_response(await _current_response(gateway, meta), headers)
        with attended:
            return await while_connected(
                request, _full_reply(gateway, meta, request, headers, forget=openai_request.store is False)
            )

    @router.get(
        "/{response_id}",
        openapi_extra=OPENAI_REPLY,
        operation_id="response",
        response_class=Response,
        dependencies=[require_acceptable(JSON, SSE)],  # `stream` chooses
    )
    async def retrieve(
        request: Request,
        response_id: ResponseId,
        stream: Annotated[bool, Query()] = False,
        starting_after: Annotated[
            int | None, Query(ge=-1, description="the last `sequence_number` that you have")
        ] = None,
    ) -> Response:
        """The present state of the response. With `stream`, the reply has the events of the response: all of them, or
        those after a sequence number."""
        meta = await _find_meta(gateway, response_id, service.caller(request))
        headers = {**NO_STORE, "X-Request-Id": meta.request_id}
        if not stream:
            return _json_response(await _current_response(gateway, meta), headers)
        if starting_after is not None and not await gateway.store.is_open(meta.request_id):
            whole = await _fold_stored_events(gateway, meta)
            if whole.has_ended and starting_after > whole.last_number:
                raise RequestError(
                    f"starting_after: the last event of this response has the number {whole.last_number}"
                )
        attended = gateway.attach_reader(meta.request_id, meta.grace_s) if meta.grace_s > 0 else nullcontext()
        body = _frames(gateway, meta, after=-1 if starting_after is None else starting_after)
        return AttendedStream(body, attended, media_type=SSE, headers=headers)

    @router.post(
        "/{response_id}/cancel",
        operation_id="cancel_response",
        response_class=Response,
        dependencies=[require_acceptable(JSON)],
    )
    async def cancel(request: Request, response_id: ResponseId) -> Response:
        """Stop the work. The reply is the response. It comes when the work has stopped."""
        meta = await _find_meta(gateway, response_id, service.caller(request))
        await gateway.cancel(meta.request_id)
        return _json_response(await _current_response(gateway, meta), {**NO_STORE, "X-Request-Id": meta.request_id})

    @router.delete(
        "/{response_id}",
        operation_id="delete_response",
        response_class=Response,
        dependencies=[require_acceptable(JSON)],
    )
    async def delete(request: Request, response_id: ResponseId) -> Response:
        """Stop the work and erase all data of the request."""
        meta = await _find_meta(gateway, response_id, service.caller(request))
        erased = await gateway.erase(meta.request_id)
        return _json_response({"id": response_id, "object": "response", "deleted": erased}, NO_STORE)

    app.include_router(router)


async def _read_request(
    request: Request, service: Service, uploads: Uploads, caller: Caller, fetch: Fetch | None
) -> tuple[ResponsesRequest, LocateBody]:
    """The request in OpenAI's form and as options of GeoTTS, with its photos."""
    openai_request = value_from(await read_json(request, service.args.gateway), ResponsesRequest)
    openai_request.check_supported()
    earlier = openai_request.continued_id()
    options = options_from(openai_request.fields(), openai_request.sent_as()) if earlier is None else LocateOptions()
    if openai_request.previous_response_id:
        await _find_meta(
            service.gateway, openai_request.previous_response_id, caller
        )  # before photos are fetched for it
    pictures = few_photos(openai_request.pictures())
    photos: list[bytes] = []
    for one in pictures:
        upload = one.get("upload")
        found = (
            [await uploads.photo(upload, caller)]
            if upload is not None
            else await photos_from([one], fetch, service.args.gateway)
        )
        photos += found
    if earlier is None:
        return openai_request, LocateBody(options, photos)
    addition = addition_from(openai_request.addition(), openai_request.sent_as())
    return openai_request, await service.gateway.continuation(earlier, addition, caller, photos)


def _new_fold(meta: RunMeta) -> ResponseFold:
    created_at = int(datetime.fromisoformat(meta.started_at).timestamp()) if meta.started_at else 0
    return ResponseFold(meta.request_id, created_at, background=not meta.attended)


async def _find_meta(gateway: Gateway, response_id: str, caller: Caller) -> RunMeta:
    """Raises NotFound for a response that is unknown, erased, or of another key."""
    try:
        return await gateway.meta(request_id(response_id), caller)
    except NotFound:
        raise NotFound(f"there is no response {response_id[:40]}: it never existed, or it was erased") from None


async def _current_response(gateway: Gateway, meta: RunMeta) -> dict[str, Any]:
    return (await _fold_stored_events(gateway, meta)).response()


async def _fold_stored_events(gateway: Gateway, meta: RunMeta) -> ResponseFold:
    return _fold_events(meta, await logged_events(gateway.store, meta.request_id))


def _fold_events(meta: RunMeta, events: Iterable[Event]) -> ResponseFold:
    folding = _new_fold(meta)
    for event in events:
        folding.feed(event)
    return folding


async def _full_reply(
    gateway: Gateway, meta: RunMeta, request: Request, headers: dict[str, str], *, forget: bool
) -> Response:
    try:
        events = await gateway.events_to_end(meta.request_id)
    finally:
        if forget:
            spawn(gateway.erase(meta.request_id, scrub=False), name=f"forget {meta.request_id}")
    run = fold(events)
    if run.answer is None:
        return no_answer(run, request.url.path, headers)
    return _json_response(_fold_events(meta, events).response(), headers)


async def _frames(gateway: Gateway, meta: RunMeta, *, after: int = -1, forget: bool = False) -> AsyncIterator[bytes]:
    """The stream after the sequence number `after`. It is computed from the first event, so that the numbers agree."""
    folding = _new_fold(meta)
    try:
        async with closing(gateway.follow(meta.request_id)) as entries:
            async for entry in entries:
                if entry is None:
                    yield HEARTBEAT
                    continue
                event = event_of(entry)
                for streamed in folding.feed(event) if event is not None else ():
                    if streamed["sequence_number"] > after:
                        yield b"event: " + streamed["type"].encode() + b"\ndata: " + orjson.dumps(streamed) + b"\n\n"
    finally:
        if forget:
            spawn(gateway.erase(meta.request_id, scrub=False), name=f"forget {meta.request_id}")


def _json_response(body: dict[str, Any], headers: dict[str, str]) -> Response:
    return Response(orjson.dumps(body), media_type=JSON, headers=headers)
