"""Google Maps Platform: places, geocoding, maps and satellite pictures of the world.

https://developers.google.com/maps/documentation/places/web-service/text-search (Places API, New)
https://developers.google.com/maps/documentation/geocoding/requests-geocoding
https://developers.google.com/maps/documentation/maps-static/start
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from tools.maps import MapPicture, Style
from tools.providers.provider import Provider, ProviderParts, Service
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.toolkit.broker.provider_client import KeyPlace, ProviderFailure, ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

LIMITS: Final = ProviderLimits(per_s=10.0, burst=10.0)
IN_HEADER: Final = KeyPlace("header", "X-Goog-Api-Key")
IN_QUERY: Final = KeyPlace("query", "key")
PLACES_URL: Final = "https://places.googleapis.com"
MAPS_URL: Final = "https://maps.googleapis.com"
_PLACE_FIELDS = (
    "id",
    "displayName",
    "formattedAddress",
    "location",
    "primaryType",
    "addressComponents",
    "googleMapsUri",
)
_SHORTEST_ID = 20
_MAX_SIDE_PX = 640


class CamelCaseReply(Reply):
    """The newer services write camelCase."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class _LocalisedText(CamelCaseReply):
    text: str = ""


class _Location(CamelCaseReply):
    latitude: float
    longitude: float


class _Part(CamelCaseReply):
    long_text: str = ""
    short_text: str = ""
    types: tuple[str, ...] = ()


class _Place(CamelCaseReply):
    id: str
    display_name: _LocalisedText = _LocalisedText()
    formatted_address: str = ""
    location: _Location | None = None
    primary_type: str = ""
    address_components: tuple[_Part, ...] = ()
    google_maps_uri: str | None = None


class _Places(CamelCaseReply):
    places: tuple[_Place, ...] = ()


class _StructuredText(CamelCaseReply):
    main_text: _LocalisedText = _LocalisedText()
    secondary_text: _LocalisedText = _LocalisedText()


class _Prediction(CamelCaseReply):
    place_id: str
    text: _LocalisedText = _LocalisedText()
    structured_format: _StructuredText = _StructuredText()
    types: tuple[str, ...] = ()


class _Suggestion(CamelCaseReply):
    place_prediction: _Prediction | None = None


class _Suggestions(CamelCaseReply):
    suggestions: tuple[_Suggestion, ...] = ()


class _OldPart(Reply):
    long_name: str = ""
    short_name: str = ""
    types: tuple[str, ...] = ()


class _OldLocation(Reply):
    lat: float
    lng: float


class _Geometry(Reply):
    location: _OldLocation


class _GeocodedPlace(Reply):
    place_id: str
    formatted_address: str = ""
    geometry: _Geometry
    types: tuple[str, ...] = ()
    address_components: tuple[_OldPart, ...] = ()


class _Geocodes(Reply):
    status: str
    results: tuple[_GeocodedPlace, ...] = ()


class Google(Service):
    """The `PlacesProvider` and the `MapsProvider` of Google.

    Args:
        parts: its `base` replaces the address of both services.
    """

    name: Final = "google"
    styles: Final = frozenset[Style](("map", "satellite"))

    def __init__(self, parts: ProviderParts) -> None:
        super().__init__(parts)
        self._places = parts.base or PLACES_URL
        self._maps = parts.base or MAPS_URL

    def owns(self, place_id: str) -> bool:
        """Google's ids have no fixed form: any text of at least 20 characters without a colon or a slash."""
        return len(place_id) >= _SHORTEST_ID and ":" not in place_id and "/" not in place_id

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Text Search (New); `country` only prefers results there."""
        body: dict[str, str | int] = {"textQuery": query, "pageSize": limit}
        if country:
            body["regionCode"] = country.lower()
        reply = await self._client.read(self._new_request("places:searchText", "places.", body), context, _Places)
        return [_place_fact(place) for place in reply.places[:limit]]

    async def autocomplete(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Autocomplete (New), only in `country` where it is given; tips have no position."""
        body: dict[str, object] = {"input": query}
        if country:
            body["includedRegionCodes"] = [country.lower()]
        request = ProviderRequest(f"{self._places}/v1/places:autocomplete", method="POST", json=body)
        reply = await self._client.read(request, context, _Suggestions)
        found = [suggestion.place_prediction for suggestion in reply.suggestions if suggestion.place_prediction]
        return [_tip_fact(prediction, country) for prediction in found[:limit]]

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """The place of a Google id. Never None: an unknown id raises ToolError."""
        request = ProviderRequest(
            f"{self._places}/v1/places/{place_id}", headers={"X-Goog-FieldMask": ",".join(_PLACE_FIELDS)}
        )
        return _place_fact(await self._client.read(request, context, _Place))

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """The Geocoding API, only in `country` where it is given."""
        parameters = {"address": address, **({"components": f"country:{country.upper()}"} if country else {})}
        return await self._geocode(parameters, limit, context)

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Addresses at a WGS-84 point, the most exact first."""
        return await self._geocode({"latlng": f"{point.lat:.7f},{point.lon:.7f}"}, limit, context)

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """A PNG of at most 640 pixels a side at a whole zoom, with a marker in the middle."""
        shown = max(0, round(zoom))
        width, height = min(width, _MAX_SIDE_PX), min(height, _MAX_SIDE_PX)
        centre = f"{point.lat:.6f},{point.lon:.6f}"
        parameters = {
            "center": centre,
            "zoom": str(shown),
            "size": f"{width}x{height}",
            "maptype": "roadmap" if style == "map" else "satellite",
            "markers": f"size:small|{centre}",
            "format": "png",
        }
        request = ProviderRequest(
            f"{self._maps}/maps/api/staticmap",
            parameters,
            content_types=("image/",),
            max_bytes=4 * 2**20,
            key_place=IN_QUERY,
        )
        reply = await self._client.ask(request, context)
        return MapPicture(reply.content, reply.content_type, width, height, float(shown), f"Zoom {shown}. Google Maps.")

    async def _geocode(self, parameters: dict[str, str], limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        request = ProviderRequest(f"{self._maps}/maps/api/geocode/json", parameters, key_place=IN_QUERY)
        reply = await self._client.read(request, context, _Geocodes, _failure_of)
        return [_geocoded_fact(found) for found in reply.results[:limit]]

    def _new_request(self, service: str, prefix: str, body: dict[str, str | int]) -> ProviderRequest:
        mask = ",".join(prefix + name for name in _PLACE_FIELDS)
        return ProviderRequest(
            f"{self._places}/v1/{service}", headers={"X-Goog-FieldMask": mask}, method="POST", json=body
        )


def _failure_of(reply: _Geocodes) -> ProviderFailure | None:
    """The status of the older services, which answer 200 whatever happened."""
    if reply.status in ("OK", "ZERO_RESULTS"):
        return None
    if reply.status == "OVER_DAILY_LIMIT":
        return ProviderFailure("quota", "the quota is used up")
    if reply.status == "OVER_QUERY_LIMIT":
        return ProviderFailure("rate", "asked too often")
    if reply.status == "REQUEST_DENIED":
        return ProviderFailure("key", "the key is refused")
    return ProviderFailure("passing" if reply.status == "UNKNOWN_ERROR" else "refused", reply.status[:60])


def _place_fact(place: _Place) -> PlaceFact:
    return PlaceFact(
        id=place.id,
        name=place.display_name.text,
        place_kind=place.primary_type.replace("_", " "),
        point=LatLon(lat=place.location.latitude, lon=place.location.longitude) if place.location else None,
        country_code=next((p.short_text for p in place.address_components if "country" in p.types), ""),
        admin1=next((p.long_text for p in place.address_components if "administrative_area_level_1" in p.types), ""),
        address=place.formatted_address,
        source="Google Maps",
        url=place.google_maps_uri,
    )


def _tip_fact(prediction: _Prediction, country: str | None) -> PlaceFact:
    parts = prediction.structured_format
    return PlaceFact(
        id=prediction.place_id,
        name=parts.main_text.text or prediction.text.text,
        place_kind=", ".join(prediction.types[:2]).replace("_", " "),
        country_code=country.upper() if country else "",
        address=parts.secondary_text.text,
        source="Google Maps",
    )


def _geocoded_fact(found: _GeocodedPlace) -> PlaceFact:
    parts = found.address_components
    return PlaceFact(
        id=found.place_id,
        name=found.formatted_address,
        place_kind=", ".join(found.types[:2]).replace("_", " "),
        point=LatLon(lat=found.geometry.location.lat, lon=found.geometry.location.lng),
        country_code=next((part.short_name for part in parts if "country" in part.types), ""),
        admin1=next((part.long_name for part in parts if "administrative_area_level_1" in part.types), ""),
        source="Google Maps",
        url=f"https://www.google.com/maps/place/?q=place_id:{found.place_id}",
    )


PROVIDER: Final = Provider(LIMITS, "GOOGLE_MAPS_API_KEY", IN_HEADER, places=Google, maps=Google)
