"""A SearXNG instance of your own. https://docs.searxng.org/dev/search_api.html (its settings must allow `json`)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import plain_text
from tools.providers.provider import Provider, ProviderParts
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


class Searxng:
    """The `WebProvider` over SearXNG. There is no public default: name your instance.

    Args:
        parts: `base` is the address of the instance.

    Raises:
        ConfigError: `base` is empty.
    """

    name: Final = "searxng"
    needs_network: Final = True

    def __init__(self, parts: ProviderParts) -> None:
        if not parts.base:
            raise ConfigError("searxng needs tools.settings.searxng.base_url: the address of your instance")
        self._client = parts.client()
        self._base = parts.base.rstrip("/")

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of the instance's JSON search, in its order."""
        request = ProviderRequest(f"{self._base}/search", {"q": query, "format": "json"})
        reply = await self._client.read(request, context, _Hits)
        return [
            WebFact(
                number=i,
                title=plain_text(hit.title),
                snippet=plain_text(hit.content or ""),
                url=hit.url,
                source="SearXNG",
            )
            for i, hit in enumerate(reply.results[:limit], 1)
        ]


PROVIDER: Final = Provider(LIMITS, web=Searxng)
