"""The tiles of the page's map. They show no data of requests, so they need no key."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, FastAPI, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.http.map_tiles import MapTiles
from deployments.http.openapi import PROBLEMS, TILE
from tts.errors import NotFound
from tts.geodata.maps.tiles import MAX_TILE_ZOOM

_HEADERS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Zoom = Annotated[int, InPath(ge=0, le=MAX_TILE_ZOOM)]
Number = Annotated[int, InPath(ge=0, lt=2**MAX_TILE_ZOOM)]


def add_tiles(app: FastAPI, tiles: MapTiles) -> None:
    """Add `GET /tiles/{z}/{x}/{y}.png` to `app`."""
    router = APIRouter(tags=["page"], responses=PROBLEMS)

    @router.get("/tiles/{z}/{x}/{y}.png", openapi_extra=TILE, operation_id="tile", response_class=Response)
    async def tile(request: Request, z: Zoom, x: Number, y: Number) -> Response:
        """A tile of 256 pixels of the built-in map, in the scheme of web maps (XYZ, Web Mercator). It shows
        relief, coast, borders, regions, rivers and towns, drawn from the data of this service. It needs no key."""
        if max(x, y) >= 1 << z:
            raise NotFound(f"zoom {z} has {1 << z} by {1 << z} tiles")
        found = await tiles.tile(z, x, y)
        headers = {**_HEADERS, "ETag": found.etag}
        if request.headers.get("if-none-match") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.png, media_type="image/png", headers=headers)

    app.include_router(router)
