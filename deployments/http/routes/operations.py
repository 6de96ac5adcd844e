"""`/healthz`, `/readyz` and `/metrics`, for operators and their monitoring."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import JSONResponse, Response

from deployments.http.openapi import METRICS_PROBLEMS, NOT_READY
from deployments.http.problems import PROBLEM_TYPE
from deployments.http.service import Service
from deployments.observability.metrics import CONTENT_TYPE
from tts.api.schema import problem_of


def add_operations(app: FastAPI, service: Service) -> None:
    """Add `/healthz`, `/readyz` and `/metrics` to `app`; the first two ask for no key."""
    router = APIRouter(tags=["operations"])
    gateway = service.gateway

    @router.get("/healthz", operation_id="healthz")
    async def healthz() -> dict[str, str | int]:
        """The process is alive and its event loop runs."""
        return {"status": "ok", "version": gateway.ports.identity.version, "in_flight": gateway.in_flight}

    @router.get("/readyz", operation_id="readyz", responses=NOT_READY)
    async def readyz() -> Response:
        """200 if a request would be served: the run store and all parts behind the gateway answer. If every engine
        needs a model endpoint, at least one endpoint must answer too (they are asked every 5 s). Otherwise the
        status is 503, and the reply names the parts that do not answer."""
        health = await service.health()
        checks = health.checks
        if health.ready:
            return JSONResponse({"status": "ready", "checks": checks})
        body = problem_of("not-ready", 503, "not everything answers", instance="/readyz").jsonable()
        return JSONResponse({**body, "checks": checks}, 503, {"Retry-After": "2"}, media_type=PROBLEM_TYPE)

    @router.get("/metrics", operation_id="metrics", response_class=Response, responses=METRICS_PROBLEMS)
    async def metrics(request: Request) -> Response:
        """The metrics of this gateway replica and of all brokers, in Prometheus text format. Needs a key if the service
        needs keys."""
        service.caller(request)
        return Response(await service.exposition(), media_type=CONTENT_TYPE)

    app.include_router(router)
