"""A SearXNG instance of your own. https://docs.searxng.org/dev/search_api.html (its settings must allow `json`)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, ProviderParts, Service
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.errors import ConfigError
from tts.toolkit.broker.provider_client import ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

LIMITS: Final = ProviderLimits(per_s=4.0, burst=8.0)


class _Hit(Reply):
    url: str
    title: str = ""
    content: str | None = ""


class _Hits(Reply):
    results: tuple[_Hit, ...] = ()


class Searxng(Service):
    """The `WebProvider` over SearXNG. There is no public default: name your instance.

    Args:
        parts: `base` is the address of the instance.

    Raises:
        ConfigError: `base` is empty.
    """

    name: Final = "searxng"

    def __init__(self, parts: ProviderParts) -> None:
        if not parts.base:
            raise ConfigError("searxng needs tools.settings.searxng.base_url: the address of your instance")
        super().__init__(parts)
        self._base = self._base.rstrip("/")

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of the instance's JSON search, in its order."""
        request = ProviderRequest(f"{self._base}/search", {"q": query, "format": "json"})
        reply = await self._client.read(request, context, _Hits)
        return web_facts("SearXNG", ((hit.title, hit.content or "", hit.url) for hit in reply.results), limit)


PROVIDER: Final = Provider(LIMITS, web=Searxng)
