"""OpenCage: addresses to positions and back. https://opencagedata.com/api

The geocoder of GeoAgent's reward. An address whose parts stand between semicolons is shortened from the end until
something is found, as there; searches by name are addresses here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from tools.providers.provider import Provider, Service
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.rewards.released.geoagent_geocoder import query_of, without_last_part
from tts.toolkit.broker.provider_client import KeyPlace, ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://api.opencagedata.com"
KEY_PLACE: Final = KeyPlace("query", "key")
LIMITS: Final = ProviderLimits(per_s=1.0, burst=2.0)  # the free plan: one request a second
_ID_PREFIX = "oc:"


class _Position(Reply):
    lat: float
    lng: float


class _Result(Reply):
    formatted: str
    geometry: _Position
    confidence: int = 0
    components: dict[str, Any] = Field(default_factory=dict)


class _Results(Reply):
    results: tuple[_Result, ...] = ()


class OpenCagePlaces(Service):
    """The `PlacesProvider` over OpenCage. It has no ids: a position stands in for one."""

    name: Final = "opencage"

    def owns(self, place_id: str) -> bool:
        """Ids begin with `oc:`; a position follows."""
        return place_id.startswith(_ID_PREFIX)

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """An id holds its own position: OpenCage has none of its own."""
        lat, _, lon = place_id.removeprefix(_ID_PREFIX).partition(",")
        try:
            point = LatLon(lat=float(lat), lon=float(lon))
        except ValueError:
            return None
        return next(iter(await self.reverse(point, limit=1, context=context)), None)

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Places of an address; parts between semicolons are dropped from the end until something is found."""
        asked: str | None = address
        while asked is not None:
            found = await self._ask(query_of(asked), country, limit, context)
            if found:
                return found
            asked = without_last_part(asked)
        return []

    search = autocomplete = geocode
    """OpenCage has no search by name, and does not complete names."""

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Addresses at a WGS-84 point."""
        return await self._ask(f"{point.lat:.6f},{point.lon:.6f}", None, limit, context)

    async def _ask(self, query: str, country: str | None, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        parameters = {"q": query, "language": "en", "limit": str(limit), "no_annotations": "1"}
        if country is not None:
            parameters["countrycode"] = country.lower()
        request = ProviderRequest(f"{self._base}/geocode/v1/json", parameters)
        reply = await self._client.read(request, context, _Results)
        return [_fact(found) for found in reply.results[:limit]]


def place_found(formatted: str, point: LatLon, components: Mapping[str, Any], confidence: int) -> PlaceFact:
    """Turn a result into a fact.

    Args:
        formatted: the whole address, as OpenCage writes it.
        point: in WGS-84.
        components: the parts of the address by OpenCage's names for them (`_type`, `state`, `country_code`, …); values
            that are no text are passed over.
        confidence: OpenCage's, 1 to 10. A tenth of it is the score of the fact; with 0 there is no score.

    Returns:
        The fact. Its name is that of its kind (`_type`), else the first part of `formatted`.
    """
    texts = {name: value for name, value in components.items() if isinstance(value, str)}
    kind = texts.get("_type", "")
    return PlaceFact(
        id=f"{_ID_PREFIX}{point.lat:.6f},{point.lon:.6f}",
        name=texts.get(kind) or formatted.partition(",")[0],
        place_kind=kind,
        point=point,
        country_code=texts.get("country_code", "").upper(),
        admin1=texts.get("state", ""),
        address=formatted,
        score=confidence / 10.0 if confidence else None,
        source="OpenCage (OpenStreetMap and others)",
    )


def _fact(found: _Result) -> PlaceFact:
    point = LatLon(lat=found.geometry.lat, lon=found.geometry.lng)
    return place_found(found.formatted, point, found.components, found.confidence)


PROVIDER: Final = Provider(LIMITS, "OPENCAGE_API_KEY", KEY_PLACE, base_url=BASE_URL, places=OpenCagePlaces)
