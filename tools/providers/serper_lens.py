"""Serper: results of Google Lens for a picture at a URL, as JSON. https://serper.dev/playground (Lens).

`POST /lens` with `{"url": …}`; hits come in `organic` with title, source, link, imageUrl and thumbnailUrl.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers import serper
from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, UrlService
from tools.region_search.picture import RegionPicture
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.broker.provider_client import ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = serper.BASE_URL
KEY_PLACE: Final = serper.KEY_PLACE
LIMITS: Final = ProviderLimits(per_s=5.0, burst=5.0, timeout_s=20.0, retries=1)


class _Hit(Reply):
    title: str = ""
    link: str
    source: str = ""


class _Hits(Reply):
    organic: tuple[_Hit, ...] = ()


class SerperLens(UrlService):
    """The `RegionProvider` over Serper's Lens."""

    name: Final = "serper_lens"

    async def search_picture(self, picture: RegionPicture, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Organic hits for the picture, which has a URL only while this call lasts."""
        async with self._upload.lend(picture, context) as url:
            request = ProviderRequest(f"{self._base}/lens", method="POST", json={"url": url})
            reply = await self._client.read(request, context, _Hits)
        return web_facts("Serper", ((hit.title, hit.source, hit.link) for hit in reply.organic), limit)


PROVIDER: Final = Provider(
    LIMITS,
    "SERPER_API_KEY",
    KEY_PLACE,
    serper.judge,
    base_url=BASE_URL,
    regions_by_url=SerperLens,
    title="Google Lens",
)
