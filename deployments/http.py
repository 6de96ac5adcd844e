"""The HTTP face of the gateway: a FastAPI application over a `Gateway`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from deployments.gateway import Gateway
from deployments.http_errors import problem, problem_for
from deployments.intake import read_request
from tts.aio import closing
from tts.api.schema import LocateResponse, trajectories_for
from tts.api.sse import HEARTBEAT, ndjson_line, sse_frame
from tts.config import AppArgs
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.errors import GeoTTSError, NotFound

_SSE, _NDJSON, _GEOJSON = "text/event-stream", "application/x-ndjson", "application/geo+json"
_NO_BUFFERING = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def create_app(gateway: Gateway, args: AppArgs) -> FastAPI:
    """Routes: POST /locate, GET /healthz, GET /readyz, GET /openapi.json."""
    app = FastAPI(title="GeoTTS", version=gateway.ports.identity.version, docs_url=None, redoc_url=None)
    _install_errors(app)

    @app.post("/locate", response_model=LocateResponse, openapi_extra=_locate_openapi())
    async def locate(request: Request) -> Response:
        """Where was this photo taken? The answer as JSON, or the events on the way as SSE or NDJSON (`Accept`)."""
        options, photos = await read_request(request, args.gateway)
        request_id = await gateway.start(photos, options, traceparent=request.headers.get("traceparent"))
        accept = request.headers.get("accept", "")
        headers = {**_NO_BUFFERING, "X-Request-Id": request_id}
        if _SSE in accept:
            return StreamingResponse(_sse(gateway, request_id, options), media_type=_SSE, headers=headers)
        if _NDJSON in accept:
            return StreamingResponse(_ndjson(gateway, request_id, options), media_type=_NDJSON, headers=headers)
        async with gateway.attended(request_id, options.resume_grace_s):
            run = await gateway.result(request_id)
        return _reply(run, options, geojson=_GEOJSON in accept, headers=headers)

    @app.get("/healthz", include_in_schema=True)
    async def healthz() -> dict[str, Any]:
        """The process is alive."""
        return {"status": "ok", "in_flight": gateway.in_flight}

    @app.get("/readyz")
    async def readyz() -> dict[str, str]:
        """Requests are accepted: Serve routes here only when every deployment behind the gateway is up."""
        return {"status": "ready"}

    return app


async def _sse(gateway: Gateway, request_id: str, options: LocateOptions) -> AsyncIterator[bytes]:
    async with gateway.attended(request_id, options.resume_grace_s), closing(gateway.follow(request_id)) as entries:
        async for entry in entries:
            yield HEARTBEAT if entry is None else sse_frame(entry.seq, entry.kind, entry.payload)


async def _ndjson(gateway: Gateway, request_id: str, options: LocateOptions) -> AsyncIterator[bytes]:
    async with gateway.attended(request_id, options.resume_grace_s), closing(gateway.follow(request_id)) as entries:
        async for entry in entries:
            if entry is not None:
                yield ndjson_line(entry.payload)


def _reply(run: Run, options: LocateOptions, *, geojson: bool, headers: dict[str, str]) -> Response:
    if run.failure is not None or run.answer is None or run.accepted is None:
        failure = run.failure
        if failure is None:
            return problem("cancelled", 503, "the request was cancelled", headers={**headers, "Retry-After": "1"})
        return problem(failure.code, failure.status, failure.detail, headers=headers)
    if geojson:
        return Response(orjson.dumps(run.answer.geojson()), media_type=_GEOJSON, headers=headers)
    reply = LocateResponse(
        request_id=run.accepted.request_id,
        answer=run.answer,
        trajectories=trajectories_for(run, options.include),
    )
    return Response(reply.json_bytes(), media_type="application/json", headers=headers)


def _install_errors(app: FastAPI) -> None:
    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, GeoTTSError)
        return problem_for(error, instance=request.url.path)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
        return problem(code, error.status_code, str(error.detail), instance=request.url.path)

    async def validation(request: Request, error: Exception) -> Response:
        return problem("invalid-request", 422, "the request is not valid", instance=request.url.path)

    async def unexpected(request: Request, error: Exception) -> Response:
        return problem("internal", 500, "something went wrong here; the log has the details", instance=request.url.path)

    app.add_exception_handler(GeoTTSError, ours)
    app.add_exception_handler(NotFound, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, validation)
    app.add_exception_handler(Exception, unexpected)


def _locate_openapi() -> dict[str, Any]:
    """The request body, which the handler reads itself so that it can bound it."""
    options = LocateOptions.model_json_schema(ref_template="#/components/schemas/{model}")
    fields = options.get("properties", {})
    image = {"type": "string", "contentMediaType": "application/octet-stream"}
    base64 = {"type": "object", "properties": {"base64": {"type": "string"}}, "required": ["base64"]}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {"type": "object", "required": ["image"], "properties": {"image": image, **fields}}
                },
                "application/json": {
                    "schema": {"type": "object", "required": ["image"], "properties": {"image": base64, **fields}}
                },
            },
        }
    }
