"""Serper: results of Google's web search and maps, as JSON. https://serper.dev (playground and API reference)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.places import PlacesProvider
from tools.providers.plain import plain_text
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact, WebFact
from tts.net.client import Fetched
from tts.toolkit.broker.outlet import Ask, Complaint, KeyPlace, Manners, Outlet, Reply, judge_status

BASE_URL: Final = "https://google.serper.dev"
KEY_PLACE: Final = KeyPlace("header", "X-API-KEY")
MANNERS: Final = Manners(per_s=20.0, burst=20.0)
_ID = "cid:"


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


class SerperWeb:
    """The `WebProvider` over Serper's web search."""

    name: Final = "serper"
    needs_network: Final = True

    def __init__(self, outlet: Outlet, base_url: str = BASE_URL) -> None:
        self._outlet, self._base = outlet, base_url

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        ask = Ask(f"{self._base}/search", method="POST", json={"q": query, "num": limit})
        reply = await self._outlet.read(ask, context, _Hits)
        return [
            WebFact(number=i, title=plain_text(h.title), snippet=plain_text(h.snippet), url=h.link, source="Serper")
            for i, h in enumerate(reply.organic[:limit], 1)
        ]


class SerperPlaces:
    """The `PlacesProvider` over Serper's maps. What it lacks (positions to addresses) another provider answers."""

    name: Final = "serper"
    needs_network: Final = True

    def __init__(self, outlet: Outlet, reverse: PlacesProvider, base_url: str = BASE_URL) -> None:
        self._outlet, self._reverse, self._base = outlet, reverse, base_url

    def owns(self, place_id: str) -> bool:
        return place_id.startswith(_ID)

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        body = {"q": query, **({"gl": country.lower()} if country else {})}
        reply = await self._outlet.read(Ask(f"{self._base}/places", method="POST", json=body), context, _Places)
        return [_fact(place, country) for place in reply.places[:limit]]

    async def tips(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        return await self.search(query, country=country, limit=limit, context=context)

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        body = {"cid": place_id.removeprefix(_ID)}
        reply = await self._outlet.read(Ask(f"{self._base}/maps", method="POST", json=body), context, _Places)
        return _fact(reply.places[0], None) if reply.places else None

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        return await self.search(address, country=country, limit=limit, context=context)

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        return await self._reverse.reverse(point, limit=limit, context=context)


def judge(reply: Fetched) -> Complaint | None:
    """Used-up credits come as 400 with a message."""
    if reply.status == 400 and b"credits" in reply.content.lower():
        return Complaint("quota", "the credits are used up")
    return judge_status(reply)


def _fact(place: _Place, country: str | None) -> PlaceFact:
    known = place.latitude is not None and place.longitude is not None
    return PlaceFact(
        id=f"{_ID}{place.cid}",
        name=place.title,
        place_kind=place.category or place.type,
        point=LatLon(lat=place.latitude or 0.0, lon=place.longitude or 0.0) if known else None,
        country_code=country.upper() if country else "",
        address=place.address,
        source="Google Maps through Serper",
        url=f"https://www.google.com/maps?cid={place.cid}" if place.cid else place.website,
    )
