"""Serves parts of photos to the search services that were sent their URL, until the search has ended.

This is the only route without a key: the name in the URL is the key. It has 256 random bits, one service knows it, and
it is invalid after the search. Names are not listed and not logged.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.http.service import Service
from tools.region_search.picture import MEDIA_TYPE
from tools.region_search.served_pictures import NAME_PATTERN, PATH
from tts.errors import NotFound

_MAX_AT_ONCE = 8  # each asks all Tools replicas
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "X-Robots-Tag": "noindex, noarchive",
}
RegionName = Annotated[str, InPath(pattern=NAME_PATTERN)]


def add_regions(app: FastAPI, service: Service) -> None:
    """Add the route for these pictures to `app`. It looks up a limited number of names at once."""
    router = APIRouter(prefix=PATH, include_in_schema=False)
    asking = asyncio.Semaphore(_MAX_AT_ONCE)

    @router.get("/{name}", response_class=Response)
    async def region(request: Request, name: RegionName) -> Response:
        """The picture with this name; 404 if there is none, or if the search has ended."""
        brokers = service.gateway.brokers
        to = request.client.host if request.client is not None else ""
        async with asking:
            data = None if brokers is None else await brokers.region(name, to)
        if data is None:
            raise NotFound("there is no such picture")
        return Response(data, media_type=MEDIA_TYPE, headers=_HEADERS)

    app.include_router(router)
