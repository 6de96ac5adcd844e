"""Tavily web search. https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, Service
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import (
    KeyPlace,
    ProviderFailure,
    ProviderRequest,
    Reply,
    judge_status,
)
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://api.tavily.com"
KEY_PLACE: Final = KeyPlace("header", "Authorization", "Bearer ")
LIMITS: Final = ProviderLimits(per_s=10.0, burst=10.0)


class _Hit(Reply):
    title: str = ""
    url: str
    content: str = ""


class _Hits(Reply):
    results: tuple[_Hit, ...] = ()


class Tavily(Service):
    """The `WebProvider` over Tavily."""

    name: Final = "tavily"

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of a basic search, in Tavily's order."""
        body = {"query": query, "max_results": limit, "search_depth": "basic"}
        reply = await self._client.read(
            ProviderRequest(f"{self._base}/search", method="POST", json=body), context, _Hits
        )
        return web_facts("Tavily", ((hit.title, hit.content, hit.url) for hit in reply.results), limit)


def judge(reply: HttpReply) -> ProviderFailure | None:
    """432 and 433 say that a plan's or a pay-as-you-go limit is reached.

    Args:
        reply: a whole reply of the service, of any status.

    Returns:
        What went wrong; None for a status below 400.
    """
    if reply.status in (432, 433):
        return ProviderFailure("quota", "the plan's limit is reached")
    return judge_status(reply)


PROVIDER: Final = Provider(LIMITS, "TAVILY_API_KEY", KEY_PLACE, judge, base_url=BASE_URL, web=Tavily)
