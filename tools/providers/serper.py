"""Serper: results of Google's web search and maps, as JSON. https://serper.dev (playground and API reference)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import web_facts
from tools.providers.provider import Provider, ProviderParts, Service
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact, WebFact
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import (
    KeyPlace,
    ProviderFailure,
    ProviderRequest,
    Reply,
    judge_status,
)
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://google.serper.dev"
KEY_PLACE: Final = KeyPlace("header", "X-API-KEY")
LIMITS: Final = ProviderLimits(per_s=20.0, burst=20.0)
_ID_PREFIX = "cid:"


class _Hit(Reply):
    title: str = ""
    link: str
    snippet: str = ""


class _Hits(Reply):
    organic: tuple[_Hit, ...] = ()


class _Place(Reply):
    title: str
    address: str = ""
    latitude: float | None = None
    longitude: float | None = None
    category: str = ""
    type: str = ""
    website: str | None = None
    cid: str = ""


class _Places(Reply):
    places: tuple[_Place, ...] = ()


class SerperWeb(Service):
    """The `WebProvider` over Serper's web search."""

    name: Final = "serper"

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Organic hits of Google's web search, in its order."""
        request = ProviderRequest(f"{self._base}/search", method="POST", json={"q": query, "num": limit})
        reply = await self._client.read(request, context, _Hits)
        return web_facts("Serper", ((hit.title, hit.snippet, hit.link) for hit in reply.organic), limit)


class SerperPlaces(Service):
    """The `PlacesProvider` over Serper's maps. What it lacks (positions to addresses) another provider answers.

    Args:
        parts: `offline` answers what Serper lacks.
    """

    name: Final = "serper"

    def __init__(self, parts: ProviderParts) -> None:
        super().__init__(parts)
        self._reverse_geocoder = parts.offline

    def owns(self, place_id: str) -> bool:
        """Ids begin with `cid:`, the number of a place on Google Maps."""
        return place_id.startswith(_ID_PREFIX)

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Places of Google Maps; `country` is sent as `gl`, which only prefers it; replies do not name a country."""
        body = {"q": query, **({"gl": country.lower()} if country else {})}
        reply = await self._client.read(
            ProviderRequest(f"{self._base}/places", method="POST", json=body), context, _Places
        )
        return [_place_fact(place) for place in reply.places[:limit]]

    autocomplete = geocode = search
    """Serper has no other service for names and addresses."""

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """The place of an id from `search`; None when there is none."""
        body = {"cid": place_id.removeprefix(_ID_PREFIX)}
        reply = await self._client.read(
            ProviderRequest(f"{self._base}/maps", method="POST", json=body), context, _Places
        )
        return _place_fact(reply.places[0]) if reply.places else None

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Answered by the other provider: Serper has no such service."""
        return await self._reverse_geocoder.reverse(point, limit=limit, context=context)


def judge(reply: HttpReply) -> ProviderFailure | None:
    """Used-up credits come as 400 with a message.

    Args:
        reply: a whole reply of the service, of any status.

    Returns:
        What went wrong; None for a status below 400.
    """
    if reply.status == 400 and b"credits" in reply.content.lower():
        return ProviderFailure("quota", "the credits are used up")
    return judge_status(reply)


def _place_fact(place: _Place) -> PlaceFact:
    known = place.latitude is not None and place.longitude is not None
    return PlaceFact(
        id=f"{_ID_PREFIX}{place.cid}",
        name=place.title,
        place_kind=place.category or place.type,
        point=LatLon(lat=place.latitude or 0.0, lon=place.longitude or 0.0) if known else None,
        address=place.address,
        source="Google Maps through Serper",
        url=f"https://www.google.com/maps?cid={place.cid}" if place.cid else place.website,
    )


PROVIDER: Final = Provider(
    LIMITS,
    "SERPER_API_KEY",
    KEY_PLACE,
    judge,
    base_url=BASE_URL,
    places=SerperPlaces,
    web=SerperWeb,
)
