"""Pages of a web search as GeoVista's search worker gives them: title, href and body.

The authors' worker (gpt-researcher) asks Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from tools.providers.provider import Service
from tools.released.sources.reply import raw_reply
from tools.tool_provider import StandIn, ToolProvider
from tools.web import WebProvider
from tts.domain.request import RequestContext
from tts.toolkit.broker.provider_client import ProviderRequest

_MAX_PAGES: Final = 10


class PageSource(ToolProvider, Protocol):
    """Pages of a web search, in the form of GeoVista's search worker."""

    async def pages(self, query: str | None, context: RequestContext) -> list[dict[str, Any]]:
        """Search the web.

        Args:
            query: what the model wrote; None where it gave none.
            context: the request for which it is asked.

        Returns:
            At most ten pages with `title`, `href` and `body`, best first; empty when nothing is found.

        Raises:
            ToolError: no reply came.
        """
        ...


class TavilyPages(Service):
    """Tavily itself; texts as they come."""

    name: Final = "tavily"

    async def pages(self, query: str | None, context: RequestContext) -> list[dict[str, Any]]:
        """A query of None is sent as null."""
        body = {"query": query, "max_results": _MAX_PAGES, "search_depth": "basic"}
        reply = raw_reply(
            await self._client.ask(ProviderRequest(f"{self._base}/search", method="POST", json=body), context)
        )
        found = reply.body.get("results") if isinstance(reply.body, dict) else None
        return [_page(hit.get("title"), hit.get("url"), hit.get("content")) for hit in found or ()]


class PagesStandIn(StandIn[WebProvider]):
    """Another provider's pages in the same form."""

    async def pages(self, query: str | None, context: RequestContext) -> list[dict[str, Any]]:
        """`body` is the snippet of a result. A query of None is searched for as an empty text."""
        hits = await self._provider.search(query or "", limit=_MAX_PAGES, context=context)
        return [_page(hit.title, hit.url, hit.snippet) for hit in hits]


def _page(title: Any, href: Any, body: Any) -> dict[str, Any]:
    return {"title": title, "href": href, "body": body}
