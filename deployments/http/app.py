"""The HTTP interface of the gateway: a FastAPI application over a `Gateway`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.errors import ServerErrorMiddleware

from deployments.config import AppArgs
from deployments.endpoints.watch import EndpointWatch
from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.arrival import PhotoSource
from deployments.gateway.auth import Keyring
from deployments.gateway.cases import Cases
from deployments.gateway.gateway import Gateway
from deployments.gateway.photos.fetcher import PhotoFetcher
from deployments.gateway.uploads import Uploads
from deployments.http.health import Check
from deployments.http.map_tiles import MapTiles
from deployments.http.middleware.access_log import AccessLog
from deployments.http.middleware.cors import Cors
from deployments.http.middleware.head_method import HeadAsGet
from deployments.http.openapi import install_openapi
from deployments.http.problems import install_errors, reply_to_unexpected_error
from deployments.http.routes.bundle import add_bundle
from deployments.http.routes.cases import add_cases
from deployments.http.routes.chat_completions import add_openai
from deployments.http.routes.check import add_check
from deployments.http.routes.continued_requests import add_continue
from deployments.http.routes.endpoints import add_endpoints
from deployments.http.routes.locate import add_locate
from deployments.http.routes.map import add_map
from deployments.http.routes.mcp import McpRoutes
from deployments.http.routes.operations import add_operations
from deployments.http.routes.photo_regions import add_regions
from deployments.http.routes.responses import add_responses
from deployments.http.routes.runs import add_runs
from deployments.http.routes.tiles import add_tiles
from deployments.http.routes.web import add_web
from deployments.http.service import Service, Spread
from deployments.mcp.tool_execution import ToolboxSource
from deployments.observability.metrics import Metrics
from tts.geodata.store import DataStore

_ALLOWED_HEADERS = [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    "Prefer",
    "X-Api-Key",
    "traceparent",
    "tracestate",
]
_EXPOSED_HEADERS = ["X-Request-Id", "Location", "Retry-After", "Idempotency-Replayed", "Preference-Applied"]


def create_app(
    gateway: Gateway,
    args: AppArgs,
    *,
    metrics: Metrics | None = None,
    checks: Mapping[str, Check] | None = None,
    fetch: PhotoSource | None = None,
    spread: Spread | None = None,
    toolbox: ToolboxSource | None = None,
) -> FastAPI:
    """Every route. `metrics` should also be among the gateway's observers; `checks` are what readiness asks;
    `fetch` replaces the client that gets photos by URL; `spread` brings orders of operators to other replicas;
    `toolbox` is what clients of MCP may call.

    Raises:
        ConfigError: access needs keys and there are none, or they cannot be read.
    """
    metrics = metrics or Metrics()
    metrics.watch_queue(lambda: gateway.admission.reading, lambda: gateway.admission.working)
    photos = PhotoFetcher(args.gateway) if args.gateway.fetch_urls else None
    fetch = fetch or (photos.fetch if photos is not None else None)
    endpoints = EndpointWatch(args, spread=spread)
    service = Service(gateway, args, Keyring(args.gateway), metrics, endpoints, checks or {}, fetch, spread)

    uploads = Uploads(gateway.store, max_bytes=args.gateway.photo.max_bytes)
    pictures = AnswerPictures(args.data_dir)
    coarse = args.gateway.max_precision is not None  # then the cache of the tools would tell what rollouts looked up
    mcp = McpRoutes(service, uploads, pictures, None if coarse else toolbox)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        endpoints.start()
        gateway.start_duties()
        async with mcp.running():
            yield
        await endpoints.aclose()
        await gateway.aclose()
        if photos is not None:
            await photos.aclose()

    app = FastAPI(
        title="GeoTTS",
        version=gateway.ports.identity.version,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # its own spans would be a second trace beside the request's, and one more for every scrape
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    install_errors(app)
    add_locate(app, service)
    add_check(app, service)
    add_continue(app, service)
    add_runs(app, service)
    add_map(app, service, pictures)
    add_bundle(app, service, pictures)
    mcp.add_to(app)
    add_tiles(app, MapTiles(DataStore(args.data_dir).cartographer))
    if args.cases.retention_days > 0:
        add_cases(app, service, Cases(gateway, args.cases.retention_s))
    add_openai(app, service)
    add_responses(app, service, uploads)
    add_operations(app, service)
    add_endpoints(app, service)
    if args.tools.serves_regions:
        add_regions(app, service)
    add_web(app, service)
    install_openapi(app, keys=args.gateway.access.mode == "keys")
    _add_middleware(app, args, metrics)
    return app


def _add_middleware(app: FastAPI, args: AppArgs, metrics: Metrics) -> None:
    """From the inside out: also a reply to what nobody foresaw is readable for pages, has an id and is logged."""
    app.add_middleware(ServerErrorMiddleware, handler=reply_to_unexpected_error)
    app.add_middleware(HeadAsGet)
    if args.gateway.cors_origins:
        app.add_middleware(
            Cors,
            allow_origins=list(args.gateway.cors_origins),
            allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
            allow_headers=_ALLOWED_HEADERS,
            expose_headers=_EXPOSED_HEADERS,
            max_age=3600,
        )
    app.add_middleware(AccessLog, metrics=metrics)
