"""`POST /locate`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, FastAPI, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from deployments.gateway.arrival import Arrival, LocateBody
from deployments.gateway.gateway import StartedRequest
from deployments.gateway.webhooks import HEADER
from deployments.http.accept_header import choose_media_type
from deployments.http.disconnect import while_connected
from deployments.http.event_stream import event_stream
from deployments.http.middleware.access_log import name_in_log
from deployments.http.openapi import LOCATE, NOTHING_WORKED, PROBLEMS
from deployments.http.replies import ANSWERS, GEOJSON, JSON, STREAMS, reply
from deployments.http.request_body import read_request
from deployments.http.request_headers import idempotency_key, preferences, trace_of
from deployments.http.service import Service
from deployments.wiring.answer_outlines import answer_outlines
from tts.api.schema import Accepted202, LocateResponse
from tts.domain.outline import NO_OUTLINES
from tts.domain.request import LocateOptions


def add_locate(app: FastAPI, service: Service) -> None:
    """Add `POST /locate` to `app`, and a handler for clients that disconnect before a reply."""
    router = APIRouter(tags=["locate"], responses=PROBLEMS)

    @router.post(
        "/locate",
        response_model=LocateResponse,
        responses=NOTHING_WORKED,
        openapi_extra=LOCATE,
        operation_id="locate",
    )
    async def locate(request: Request) -> Response:
        """Where was this photo taken?

        `Accept` selects the reply: the answer as JSON or GeoJSON, or a stream of all events as SSE or NDJSON.
        With `Prefer: respond-async` the reply is a 202 at once, and the work continues. A request that is sent
        again with the same `Idempotency-Key` is not run again.
        """
        return await start_and_reply(request, service, LocateOptions)

    async def client_disconnected(request: Request, error: Exception) -> Response:
        return Response(status_code=499)  # nobody reads it; the access log does

    app.add_exception_handler(ClientDisconnect, client_disconnected)
    app.include_router(router)


async def start_and_reply(request: Request, service: Service, model: type[LocateOptions]) -> Response:
    """Parse a request into the options of a `model`, start it, and reply in the form that the caller accepts."""

    async def read(arrival: Arrival) -> LocateBody:
        return LocateBody(*await read_request(request, service.args.gateway, arrival.fetch_from(service.fetch), model))

    return await started_reply(request, service, read)


async def started_reply(
    request: Request, service: Service, read: Callable[[Arrival], Awaitable[LocateBody]]
) -> Response:
    """Start the request that `read` parses from the body, and reply in the form that the caller accepts."""
    gateway = service.gateway
    caller = await service.caller_within_rate(request)
    key = idempotency_key(request)
    webhook = gateway.webhooks.check_url(request.headers.get(HEADER))
    media_type = choose_media_type(request.headers.getlist("accept"), (*ANSWERS, *STREAMS))
    alone = "respond-async" in preferences(request)
    async with gateway.receive_request(caller) as arrival:
        name_in_log(request.scope, arrival.request_id)
        asked = await read(arrival)
        options = asked.options
        followed = alone or media_type in STREAMS or options.resume_grace_s > 0
        started, headers = await start_body(
            request, service, arrival, asked, key, followed=followed, attended=not alone, webhook=webhook
        )
    id_ = started.request_id
    if alone:
        return _accepted_reply(id_, headers)
    attended = gateway.attach_reader(id_, options.resume_grace_s, joins=started.replayed)
    if media_type in STREAMS:
        return event_stream(gateway, id_, media_type, attended=attended, headers=headers)
    with attended:
        run = await while_connected(request, gateway.result(id_))
    drawn = NO_OUTLINES
    if media_type == GEOJSON:
        drawn = await asyncio.to_thread(answer_outlines, run.answer, service.args.data_dir)
    return reply(id_, run, options.include, media_type, headers, drawn)


async def start_body(
    request: Request,
    service: Service,
    arrival: Arrival,
    body: LocateBody,
    key: str | None,
    *,
    followed: bool,
    attended: bool = True,
    webhook: str = "",
) -> tuple[StartedRequest, dict[str, str]]:
    """Start the request that was read from a body; the headers of the reply say which one it is."""
    started = await service.gateway.start(
        body.photos,
        body.options,
        arrival=arrival,
        key=key,
        attended=attended,
        followed=followed,
        trace=trace_of(request),
        webhook=webhook,
        continuation=body.continuation,
    )
    replayed = {"Idempotency-Replayed": "true"} if started.replayed else {}
    return started, {"X-Request-Id": started.request_id, **replayed}


def _accepted_reply(request_id: str, headers: dict[str, str]) -> Response:
    location = f"/locate/{request_id}"
    accepted = Accepted202(request_id=request_id, location=location, events=f"{location}/events")
    headers |= {"Location": location, "Preference-Applied": "respond-async", "Retry-After": "1"}
    return Response(accepted.json_bytes(), 202, media_type=JSON, headers=headers)
