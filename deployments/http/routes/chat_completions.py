"""`/v1`: the pipeline for clients of OpenAI's chat completions."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from deployments.gateway.arrival import Fetch, LocateBody
from deployments.gateway.auth import Caller
from deployments.gateway.continued_request import PhotosGone, StillRunning
from deployments.gateway.gateway import Gateway
from deployments.http.accept_header import require_acceptable
from deployments.http.disconnect import while_connected
from deployments.http.event_stream import AttendedStream
from deployments.http.middleware.access_log import name_in_log
from deployments.http.openapi import NOTHING_WORKED, PROBLEMS, SHORTENED_PHOTO, body_for_openai_client
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
from deployments.runstore import StoreUnavailable
from deployments.runstore.stored_values import event_of
from geotts_client.continue_options import ContinueOptions
from tts.aio import closing
from tts.api.chat_completions import MODELS, ChatRequest, Completion, FollowUp
from tts.api.sse_frame import HEARTBEAT
from tts.domain.claim import CheckOptions
from tts.domain.events import Done, Failed
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold
from tts.errors import NotFound

_IMAGE_EXAMPLE = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{SHORTENED_PHOTO}"}}
_EXAMPLE = {"model": "geotts", "messages": [{"role": "user", "content": [_IMAGE_EXAMPLE]}], "geotts": {"n_parallel": 2}}


_END_OF_STREAM = b"data: [DONE]\n\n"


def add_openai(app: FastAPI, service: Service) -> None:
    """Add `/v1/models`, `/v1/models/{name}` and `/v1/chat/completions` to `app`."""
    router = APIRouter(prefix="/v1", tags=["openai"], responses=PROBLEMS)
    gateway = service.gateway

    @router.get("/models", operation_id="models", response_class=Response, dependencies=[require_acceptable(JSON)])
    async def models(request: Request) -> Response:
        """The names for `model`: with `geotts` the service chooses the depth; each other name sets one depth."""
        service.caller(request)
        return _json_response({"object": "list", "data": [_model_entry(name) for name in MODELS]})

    @router.get(
        "/models/{name}", operation_id="model", response_class=Response, dependencies=[require_acceptable(JSON)]
    )
    async def model(request: Request, name: str) -> Response:
        """One model."""
        service.caller(request)
        if name not in MODELS:
            raise NotFound(f"there is no model {name[:60]!r}")
        return _json_response(_model_entry(name))

    @router.post(
        "/chat/completions",
        responses=NOTHING_WORKED,
        openapi_extra=body_for_openai_client(ChatRequest, _EXAMPLE),
        operation_id="chat",
        response_class=Response,
        dependencies=[require_acceptable(JSON, SSE)],  # the body chooses
    )
    async def chat(request: Request) -> Response:
        """Where were the images of this conversation taken? `content` is the answer as JSON; `reasoning_content` has
        the steps that led to it. Options of `/locate` go into `geotts`; with `geotts.claim` the claim is checked. The
        text before the first answer has no effect: use `geotts.hint` for a hint. A message after an answer continues
        its request, as `/locate/{request_id}/continue` does."""
        caller = await service.caller_within_rate(request)
        key = idempotency_key(request)
        async with gateway.receive_request(caller) as arrival:
            name_in_log(request.scope, arrival.request_id)
            openai_request, found = await _read_request(request, service, caller, arrival.fetch_from(service.fetch))
            options = found.options
            started, named = await start_body(request, service, arrival, found, key, followed=openai_request.stream)
        id_ = started.request_id
        made = Completion(id_, openai_request.model, int(time.time()), gateway.ports.identity.version)
        attended = gateway.attach_reader(id_, options.resume_grace_s, joins=started.replayed)
        headers = {**NO_STORE, **named}
        if openai_request.stream:
            usage = openai_request.stream_options is not None and openai_request.stream_options.include_usage
            body = _sse_chunks(gateway, id_, made, include_usage=usage)
            return AttendedStream(body, attended, media_type=SSE, headers=headers)
        with attended:
            events = await while_connected(request, gateway.events_to_end(id_))
        run = fold(events)
        if run.answer is None:
            return no_answer(run, request.url.path, headers)
        return _json_response(made.full_reply(events, run.answer), headers)

    app.include_router(router)


async def _read_request(
    request: Request, service: Service, caller: Caller, fetch: Fetch | None
) -> tuple[ChatRequest, LocateBody]:
    """The request in OpenAI's form and as options of GeoTTS, with its photos; `fetch` gets those that are sent as a
    URL.
    """
    openai_request = value_from(await read_json(request, service.args.gateway), ChatRequest)
    openai_request.check_supported()
    if (follow_up := openai_request.follow_up()) is not None:
        with suppress(NotFound, StillRunning, PhotosGone):  # then the conversation has all that is needed to begin anew
            return openai_request, await _continued_request(follow_up, openai_request, service, caller, fetch)
    model = CheckOptions if "claim" in openai_request.geotts else LocateOptions
    options = options_from(openai_request.fields(), openai_request.sent_as(), model=model)
    images = [{"url": url} for url in few_photos([*openai_request.images()])]
    return openai_request, LocateBody(options, await photos_from(images, fetch, service.args.gateway))


async def _continued_request(
    follow_up: FollowUp, asked: ChatRequest, service: Service, caller: Caller, fetch: Fetch | None
) -> LocateBody:
    """The earlier request, and what the conversation adds to it. The options of the earlier request do not change."""
    added = {name: value for name, value in follow_up.fields.items() if name in ContinueOptions.model_fields}
    addition = addition_from(added, asked.sent_as())
    images = [{"url": url} for url in few_photos([*follow_up.images])]
    photos = await photos_from(images, fetch, service.args.gateway) if images else []
    return await service.gateway.continuation(follow_up.request_id, addition, caller, photos)


async def _sse_chunks(
    gateway: Gateway,
    request_id: str,
    made: Completion,
    *,
    include_usage: bool,
) -> AsyncIterator[bytes]:
    yield _sse_frame(made.first())
    try:
        async with closing(gateway.follow(request_id)) as entries:
            async for entry in entries:
                if entry is None:
                    yield HEARTBEAT
                    continue
                event = event_of(entry)
                if event is None:
                    continue
                for chunk in made.chunks(event):
                    yield _sse_frame(chunk)
                if isinstance(event, Failed) or (isinstance(event, Done) and made.usage is None):
                    yield _sse_frame({"error": _error_body(event)})
                    yield _END_OF_STREAM
                    return
    except StoreUnavailable as unreadable:
        yield _sse_frame(
            {"error": _error_body(Failed(code=unreadable.code, status=unreadable.status, detail=unreadable.detail))}
        )
        yield _END_OF_STREAM
        return
    for chunk in made.last(include_usage=include_usage):
        yield _sse_frame(chunk)
    yield _END_OF_STREAM


def _error_body(event: Failed | Done) -> dict[str, Any]:
    code, detail = (
        (event.code, event.detail) if isinstance(event, Failed) else ("cancelled", "the request was cancelled")
    )
    return {"message": detail, "type": code, "code": code, "param": None}


def _sse_frame(chunk: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def _json_response(body: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), media_type=JSON, headers=headers)


def _model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "geotts"}
