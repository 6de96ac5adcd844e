"""You.com web search (YDC index). https://docs.you.com/api-reference/search/v1-search"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, Service
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.broker.provider_client import KeyPlace, ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://ydc-index.io"
KEY_PLACE: Final = KeyPlace("header", "X-API-Key")
LIMITS: Final = ProviderLimits(per_s=8.0, burst=8.0)


class _Hit(Reply):
    url: str
    title: str = ""
    description: str = ""
    snippets: tuple[str, ...] = ()


class _Sections(Reply):
    web: tuple[_Hit, ...] = ()


class _Hits(Reply):
    results: _Sections = _Sections()


class Ydc(Service):
    """The `WebProvider` over You.com."""

    name: Final = "ydc"

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Web hits; the snippet is the first two of a page, or its description."""
        request = ProviderRequest(f"{self._base}/v1/search", {"query": query, "count": str(limit)})
        reply = await self._client.read(request, context, _Hits)
        hits = ((hit.title, " ".join(hit.snippets[:2]) or hit.description, hit.url) for hit in reply.results.web)
        return web_facts("You.com", hits, limit)


PROVIDER: Final = Provider(LIMITS, "YDC_API_KEY", KEY_PLACE, base_url=BASE_URL, web=Ydc)
