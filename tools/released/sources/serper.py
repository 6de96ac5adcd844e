"""Serper's Google results as the authors ask for them, and a stand-in with the same form. https://serper.dev"""

from __future__ import annotations

from typing import Any, Final, Protocol

from tools.places import PlacesProvider
from tools.providers import serper
from tools.providers.provider import ProviderParts, Service
from tools.released.sources.reply import JsonObject, RawReply, raw_reply
from tools.tool_provider import ToolProvider
from tools.web import WebProvider
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.errors import ToolError, ToolErrorKind
from tts.toolkit.broker.provider_client import ProviderRequest, accept_any

SEARCH: Final = "search"
MAPS: Final = "maps"
_MAX_HITS: Final = 10
_MAX_PLACES: Final = 20


class SerperSource(ToolProvider, Protocol):
    """Replies in Serper's form."""

    async def ask(self, service: str, body: JsonObject, context: RequestContext) -> RawReply:
        """Ask a service.

        Args:
            service: `SEARCH` or `MAPS`.
            body: in Serper's form, without a key.
            context: the request for which it is asked.

        Returns:
            The reply of the service, as it came.

        Raises:
            ToolError: no reply came.
        """
        ...


class SerperService(Service):
    """Serper itself.

    Args:
        parts: what the provider is made of.
        any_reply: whether refusals are passed on as they came, as the notebook's tools read them.
    """

    name: Final = "serper"

    def __init__(self, parts: ProviderParts, *, any_reply: bool) -> None:
        super().__init__(parts)
        self._judge = accept_any if any_reply else serper.judge

    async def ask(self, service: str, body: JsonObject, context: RequestContext) -> RawReply:
        """Sent through the client, which adds the key. Raises ToolError; without `any_reply` for a refusal, too."""
        request = ProviderRequest(f"{self._base}/{service}", method="POST", json=body)
        return raw_reply(await self._client.ask(request, context, self._judge))


class SerperStandIn:
    """Other providers' pages and places in Serper's form.

    Args:
        places: finds the places.
        web: searches the web; if None, a search fails with BLOCKED.
    """

    def __init__(self, places: PlacesProvider, web: WebProvider | None) -> None:
        self._places = places
        self._web = web
        self.name = places.name if web is None else f"{places.name}+{web.name}"
        self.needs_network = places.needs_network or (web is not None and web.needs_network)

    async def ask(self, service: str, body: JsonObject, context: RequestContext) -> RawReply:
        """Only `q` of the body counts. `MAPS` gives at most 20 places in WGS-84, `SEARCH` at most ten pages."""
        query = str(body["q"])
        if service == MAPS:
            found = await self._places.search(query, country=None, limit=_MAX_PLACES, context=context)
            return RawReply(200, {"places": [_place(i, fact) for i, fact in enumerate(found, 1)]})
        if self._web is None:
            raise ToolError("no provider searches the web", kind=ToolErrorKind.BLOCKED)
        hits = await self._web.search(query, limit=_MAX_HITS, context=context)
        return RawReply(
            200,
            {
                "organic": [
                    {"title": hit.title, "link": hit.url, "snippet": hit.snippet, "position": i}
                    for i, hit in enumerate(hits, 1)
                ]
            },
        )


def _place(position: int, fact: PlaceFact) -> dict[str, Any]:
    place: dict[str, Any] = {"position": position, "title": fact.name, "address": fact.address or fact.admin1}
    if fact.point is not None:
        place |= {"latitude": fact.point.lat, "longitude": fact.point.lon}
    return place | {"types": [fact.place_kind] if fact.place_kind else [], "cid": fact.id}
