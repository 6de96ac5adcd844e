"""OpenCage as the authors of GeoAgent ask it, and a stand-in with the same form. https://opencagedata.com/api"""

from __future__ import annotations

from typing import Any, Final, Protocol

from tools.places import PlacesProvider
from tools.providers.provider import Service
from tools.released.sources.reply import raw_reply
from tools.tool_provider import StandIn, ToolProvider
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.rewards.released.geoagent_geocoder import Reply, parameters, query_of
from tts.toolkit.broker.provider_client import ProviderRequest

_ADDRESS_CHARS: Final = 200
_MAX_CONFIDENCE: Final = 10


class AddressSource(ToolProvider, Protocol):
    """Replies in OpenCage's form to an address as the model wrote it."""

    async def ask(self, address: str, context: RequestContext) -> Reply:
        """Look up an address.

        Args:
            address: as the model wrote it; it is asked for as `query_of` makes it.
            context: the request for which it is asked.

        Returns:
            The body of the reply. `failure` stays None: what fails is a ToolError.

        Raises:
            ToolError: no reply came.
        """
        ...


class OpenCageService(Service):
    """OpenCage itself."""

    name: Final = "opencage"

    async def ask(self, address: str, context: RequestContext) -> Reply:
        """Asks for one result in English. The client adds the key."""
        asked = {name: str(value) for name, value in parameters(address).items()}
        fetched = await self._client.ask(ProviderRequest(f"{self._base}/geocode/v1/json", asked), context)
        return Reply(raw_reply(fetched).body)


class AddressStandIn(StandIn[PlacesProvider]):
    """Another provider's places in OpenCage's form. It is asked finest part first, as geocoders want it."""

    async def ask(self, address: str, context: RequestContext) -> Reply:
        """One result, or none; an address without any part is not asked for. Points are WGS-84."""
        parts = [part.strip() for part in query_of(address).split(",") if part.strip()]
        query = ", ".join(reversed(parts))[:_ADDRESS_CHARS]
        found = await self._provider.geocode(query, country=None, limit=1, context=context) if query else ()
        results = [_result(fact, fact.point) for fact in found[:1] if fact.point is not None]
        return Reply({"results": results, "status": {"code": 200, "message": "OK"}, "total_results": len(results)})


def _result(fact: PlaceFact, point: LatLon) -> dict[str, Any]:
    kind = fact.place_kind or "place"
    components = {"state": fact.admin1, "country_code": fact.country_code.lower(), kind: fact.name}
    return {
        "components": {"_type": kind} | {name: value for name, value in components.items() if value},
        "confidence": round((fact.score or 0.0) * _MAX_CONFIDENCE),
        "formatted": fact.address or ", ".join(part for part in (fact.name, fact.admin1) if part),
        "geometry": {"lat": point.lat, "lng": point.lon},
    }
