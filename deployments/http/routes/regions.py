"""Parts of photos, for the search services that were sent their URL, for as long as the search lasts.

The one route that asks for no key: the name is the key. It has 256 bits of chance, is known to one service, and means
nothing any more when the call is over. Names are neither listed nor logged.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.http.service import Service
from tools.regions.picture import MEDIA_TYPE
from tools.regions.shelf import NAME_PATTERN, PATH
from tts.errors import NotFound

_AT_ONCE = 8  # each asks all Tools replicas
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "X-Robots-Tag": "noindex, noarchive",
}
RegionName = Annotated[str, InPath(pattern=NAME_PATTERN)]


def add_regions(app: FastAPI, service: Service) -> None:
    """Add the route that shows lent regions to `app`; a limited number of names is looked up at once."""
    router = APIRouter(prefix=PATH, include_in_schema=False)
    asking = asyncio.Semaphore(_AT_ONCE)

    @router.get("/{name}", response_class=Response)
    async def region(request: Request, name: RegionName) -> Response:
        """The picture under this name. 404 when it was never lent, or is lent no longer."""
        brokers = service.gateway.brokers
        to = request.client.host if request.client is not None else ""
        async with asking:
            data = None if brokers is None else await brokers.region(name, to)
        if data is None:
            raise NotFound("there is no such picture")
        return Response(data, media_type=MEDIA_TYPE, headers=_HEADERS)

    app.include_router(router)
