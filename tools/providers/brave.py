"""Brave web search. https://api-dashboard.search.brave.com/app/documentation/web-search/responses"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, Service
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.broker.provider_client import KeyPlace, ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://api.search.brave.com"
KEY_PLACE: Final = KeyPlace("header", "X-Subscription-Token")
LIMITS: Final = ProviderLimits(per_s=1.0, burst=1.0, max_running=2)  # the free plan's rate
_MAX_RESULTS = 20


class _Hit(Reply):
    title: str = ""
    url: str
    description: str = ""
    extra_snippets: tuple[str, ...] = ()


class _Web(Reply):
    results: tuple[_Hit, ...] = ()


class _Hits(Reply):
    web: _Web = _Web()


class Brave(Service):
    """The `WebProvider` over Brave Search."""

    name: Final = "brave"

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """At most 20 hits, without markup; the snippet is the description and one extra snippet."""
        parameters = {"q": query, "count": str(min(limit, _MAX_RESULTS))}
        reply = await self._client.read(ProviderRequest(f"{self._base}/res/v1/web/search", parameters), context, _Hits)
        hits = ((h.title, " ".join((h.description, *h.extra_snippets[:1])), h.url) for h in reply.web.results)
        return web_facts("Brave", hits, limit)


PROVIDER: Final = Provider(LIMITS, "BRAVE_API_KEY", KEY_PLACE, base_url=BASE_URL, web=Brave)
