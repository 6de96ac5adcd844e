"""`GET /`: a page for people and an index for programs; `GET /docs`: the reference of the API."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Request
from pydantic import Field
from starlette.responses import Response

from deployments.config.map_tiles import TileSource
from deployments.http.accept_header import choose_media_type
from deployments.http.api_reference import reference
from deployments.http.docs_page import docs_page
from deployments.http.openapi import PROBLEMS
from deployments.http.replies import JSON
from deployments.http.service import Service
from deployments.web.site import PAGE, StaticFile, package_file, page_policy, static_files
from deployments.wiring.parts import remote_engines
from deployments.wiring.region_search_notice import RegionTerms, region_terms
from tts.domain.request import MAX_PARALLEL, MAX_PHOTOS
from tts.domain.value import Value
from tts.errors import NotFound

_LINKS = {
    "locate": "/locate",
    "check": "/check",
    "models": "/v1/models",
    "openapi": "/openapi.json",
    "docs": "/docs",
    "healthz": "/healthz",
    "readyz": "/readyz",
    "metrics": "/metrics",
}
_TEXT_TYPE = "text/plain"
_PAGE_OPENAPI: dict[str, Any] = {
    "responses": {"200": {"description": "The page, or the index", "content": {"text/html": {"schema": {}}}}}
}


class ServiceLimits(Value):
    """The limits of a request."""

    photos: int = Field(description="most photos of a request")
    photo_bytes: int = Field(description="largest photo in bytes")
    body_bytes: int = Field(description="largest body of a request in bytes")
    rollouts: int = Field(description="most rollouts of a request (`n_parallel`)")


class EngineNote(Value):
    """The engine that answers."""

    name: str = Field(description="kind of the engine, such as `openai`")
    model: str = Field(description="name of the model as it is configured")
    hosts: tuple[str, ...] = Field(description="hosts that get the photo; empty if the engine runs in this service")
    sees_pictures: bool = Field(description="true: it sees the photo; false: it only reads the text in it")


class CaseTerms(Value):
    """How long cases are kept after their last change, and whether they survive a restart of the service."""

    retention_days: float = Field(description="days for which a case is kept after its last change")
    survive_restart: bool = Field(description="true: cases survive a restart of the service")


class ServiceIndex(Value):
    """What this service offers, for programs."""

    name: str = Field(description="`GeoTTS`")
    version: str = Field(description="version of GeoTTS")
    access: Literal["off", "keys"] = Field(description="`keys`: requests need an API key; `off`: they need none")
    retention_s: float = Field(description="seconds from the end of a request until it is erased, if no case keeps it")
    limits: ServiceLimits = Field(description="limits of a request")
    engine: EngineNote = Field(description="the engine that answers")
    cases: CaseTerms | None = Field(description="how long cases are kept; null if the service keeps none")
    region_search: RegionTerms | None = Field(
        description="who gets regions of photos if a request allows it (`allow_region_search`); null if no request "
        "can allow it",
    )
    map_tiles: tuple[TileSource, ...] = Field(description="maps that the page offers beside its own")
    links: dict[str, str] = Field(description="paths of the service, by their names")


def add_web(app: FastAPI, service: Service) -> None:
    """Add `/`, `/web/{name}` and `/docs` to `app`; none of them asks for a key."""
    router = APIRouter(tags=["page"])
    files = static_files()
    index = _service_index(service)
    policy = page_policy(tuple(source.origin for source in service.args.gateway.map_tiles))

    @router.get(
        "/",
        response_model=ServiceIndex,
        responses={406: PROBLEMS[406]},
        openapi_extra=_PAGE_OPENAPI,
        operation_id="index",
    )
    async def home(request: Request) -> Response:
        """The web page of the service, or a JSON index if `Accept` prefers `application/json`. Needs no key."""
        if choose_media_type(request.headers.getlist("accept"), ("text/html", JSON)) == JSON:
            return Response(index.json_bytes(), media_type=JSON, headers={"Vary": "Accept"})
        return _static_reply(files[PAGE], request, {"Vary": "Accept", "Content-Security-Policy": policy})

    @router.get("/web/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        found = files.get(name) or package_file(name)
        if found is None:
            raise NotFound("the page has no such file")
        return _static_reply(found, request)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        kind = choose_media_type(request.headers.getlist("accept"), (_TEXT_TYPE, "text/html", "text/markdown"))
        if kind != "text/html":
            written = reference(app.openapi(), served=True)
            return Response(written, media_type=kind, headers={"Vary": "Accept"})
        page = StaticFile.from_bytes("docs.html", docs_page(reference(app.openapi(), served=True, values=True)))
        return _static_reply(page, request, {"Vary": "Accept"})

    app.include_router(router)


def _service_index(service: Service) -> ServiceIndex:
    days = service.args.cases.retention_days
    config, identity = service.args.gateway, service.gateway.ports.identity
    return ServiceIndex(
        name="GeoTTS",
        version=identity.version,
        access=config.access.mode,
        retention_s=config.retention_s,
        limits=ServiceLimits(
            photos=MAX_PHOTOS,
            photo_bytes=config.photo.max_bytes,
            body_bytes=config.max_body_bytes,
            rollouts=MAX_PARALLEL,
        ),
        engine=EngineNote(
            name=identity.engine,
            model=identity.model,
            hosts=remote_engines(service.args),
            sees_pictures=service.args.abilities.sees_pictures,
        ),
        cases=CaseTerms(retention_days=days, survive_restart=config.run_store != "memory") if days else None,
        region_search=region_terms(service.args),
        map_tiles=config.map_tiles,
        links=_LINKS,
    )


def _static_reply(file: StaticFile, request: Request, headers: dict[str, str] | None = None) -> Response:
    all_headers = {**file.headers(), **(headers or {})}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=all_headers)
    return Response(file.data, media_type=file.media_type, headers=all_headers)
