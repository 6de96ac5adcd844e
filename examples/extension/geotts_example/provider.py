"""A provider of region search: it sends a part of the photo to a server of yours, which replies with pages.

GeoTTS asks it only where the operator and the request allow it. Set `tools.settings.own_pages.base_url`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tools.providers.provider import Provider, Service
from tools.region_search.picture import RegionPicture
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.broker.provider_client import ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits


class _Page(Reply):
    title: str
    url: str


class _Pages(Reply):
    pages: tuple[_Page, ...] = ()


class OwnPages(Service):
    """The `RegionProvider` over `POST /search`, which gets the JPEG in hexadecimal."""

    name = "own_pages"

    async def search_picture(self, picture: RegionPicture, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """In the order of the reply. Raises ToolError when the server fails, or replies in another form."""
        request = ProviderRequest(f"{self._base}/search", method="POST", json={"jpeg": picture.data.hex()})
        reply = await self._client.read(request, context, _Pages)
        found = enumerate(reply.pages[:limit], 1)
        return [WebFact(number=number, title=page.title, url=page.url, source="own pages") for number, page in found]


PROVIDER = Provider(ProviderLimits(per_s=5.0), regions=OwnPages, title="the picture search of this site")
