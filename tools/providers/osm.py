"""OpenStreetMap services: Nominatim for names and addresses, Photon for beginnings of names, Overpass for details.

https://nominatim.org/release-docs/latest/api/Output/, https://github.com/komoot/photon,
https://wiki.openstreetmap.org/wiki/Overpass_API. The public servers allow one request a second, no completion on
Nominatim, and want to know who asks (https://operations.osmfoundation.org/policies/nominatim/).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import RootModel

from tools.maps import Style
from tools.providers import tiles
from tools.providers.provider import Provider, ProviderParts, Service
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.net.http_client import USER_AGENT
from tts.toolkit.broker.provider_client import ProviderRequest, Reply
from tts.toolkit.broker.provider_limits import ProviderLimits

LIMITS: Final = ProviderLimits(per_s=1.0, burst=1.0, max_running=1)
NOMINATIM_URL: Final = "https://nominatim.openstreetmap.org"
PHOTON_URL: Final = "https://photon.komoot.io"
OVERPASS_URL: Final = "https://overpass-api.de"
SOURCE: Final = "OpenStreetMap"
_ELEMENT_ID = re.compile(r"(node|way|relation)/(\d{1,19})")
_KIND_OF_LETTER = {"N": "node", "W": "way", "R": "relation"}
_PLACE_KEYS = (
    "amenity",
    "shop",
    "tourism",
    "historic",
    "place",
    "railway",
    "highway",
    "building",
    "leisure",
    "natural",
)


class _NominatimPlace(Reply):
    """One place of Nominatim, format jsonv2. Positions are strings there."""

    osm_type: str = ""
    osm_id: int = 0
    lat: float = 0.0
    lon: float = 0.0
    name: str = ""
    display_name: str = ""
    category: str = ""
    type: str = ""
    address: dict[str, str] = {}
    error: str = ""  # of a position where there is nothing (at sea)


class _NominatimPlaces(RootModel[tuple[_NominatimPlace, ...]]):
    """Nominatim's search answers with a bare list."""


class _Properties(Reply):
    osm_type: str = ""
    osm_id: int = 0
    osm_value: str = ""
    name: str = ""
    countrycode: str = ""
    country: str = ""
    state: str = ""
    county: str = ""
    city: str = ""
    district: str = ""
    street: str = ""
    housenumber: str = ""


class _Geometry(Reply):
    coordinates: tuple[float, float]


class _Feature(Reply):
    properties: _Properties
    geometry: _Geometry


class _Features(Reply):
    features: tuple[_Feature, ...] = ()


class _Centre(Reply):
    lat: float
    lon: float


class _Element(Reply):
    type: str
    id: int
    lat: float | None = None
    lon: float | None = None
    center: _Centre | None = None
    tags: dict[str, str] = {}


class _Elements(Reply):
    elements: tuple[_Element, ...] = ()


class OsmPlaces(Service):
    """The `PlacesProvider` over OpenStreetMap.

    Args:
        parts: `contact` goes into the User-Agent, as the usage policy asks. `settings.urls` replaces the addresses of
            `nominatim`, `photon` and `overpass`.
    """

    name: Final = "osm"

    def __init__(self, parts: ProviderParts) -> None:
        super().__init__(parts)
        urls = parts.settings.urls
        self._nominatim = urls.get("nominatim", NOMINATIM_URL)
        self._photon = urls.get("photon", PHOTON_URL)
        self._overpass = urls.get("overpass", OVERPASS_URL)
        self._headers = {"User-Agent": f"{USER_AGENT} {parts.contact}".strip()}

    def owns(self, place_id: str) -> bool:
        """Ids are those of OpenStreetMap: `node/1`, `way/1`, `relation/1`."""
        return _ELEMENT_ID.fullmatch(place_id) is not None

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Nominatim's search, names in English where there are any."""
        parameters = {"q": query, "limit": str(limit), **({"countrycodes": country.lower()} if country else {})}
        reply = await self._client.read(self._nominatim_request("search", parameters), context, _NominatimPlaces)
        return [_place_fact(found) for found in reply.root[:limit]]

    geocode = search
    """Nominatim takes names and addresses alike."""

    async def autocomplete(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Photon knows no countries to search in: theirs are picked out of more results."""
        asked = limit if country is None else 4 * limit
        request = ProviderRequest(f"{self._photon}/api/", {"q": query, "limit": str(asked)}, self._headers)
        reply = await self._client.read(request, context, _Features)
        tips = [_tip_fact(feature) for feature in reply.features if feature.properties.name]
        return [tip for tip in tips if country is None or tip.country_code == country.upper()][:limit]

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """The element as Overpass has it; None for an id of another form, or where there is no such element."""
        match = _ELEMENT_ID.fullmatch(place_id)
        if match is None:
            return None
        query = f"[out:json][timeout:10];{match[1]}({match[2]});out center tags;"
        request = ProviderRequest(
            f"{self._overpass}/api/interpreter",
            headers={**self._headers, "Content-Type": "application/x-www-form-urlencoded"},
            method="POST",
            content=f"data={query}".encode(),
        )
        reply = await self._client.read(request, context, _Elements)
        return _element_fact(reply.elements[0]) if reply.elements else None

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """The one place that Nominatim gives at the point, whatever `limit`; nothing at sea."""
        parameters = {"lat": f"{point.lat:.7f}", "lon": f"{point.lon:.7f}", "zoom": "18"}
        found = await self._client.read(self._nominatim_request("reverse", parameters), context, _NominatimPlace)
        return [_place_fact(found)] if found.osm_id else []

    def _nominatim_request(self, service: str, parameters: dict[str, str]) -> ProviderRequest:
        fixed = {"format": "jsonv2", "addressdetails": "1", "accept-language": "en"}
        return ProviderRequest(f"{self._nominatim}/{service}", {**parameters, **fixed}, self._headers)


def _place_fact(found: _NominatimPlace) -> PlaceFact:
    return PlaceFact(
        id=f"{found.osm_type}/{found.osm_id}",
        name=found.name or found.display_name.partition(",")[0],
        place_kind=" ".join(part for part in (found.category, found.type) if part).replace("_", " "),
        point=LatLon(lat=found.lat, lon=found.lon),
        country_code=found.address.get("country_code", "").upper(),
        admin1=found.address.get("state", ""),
        address=found.display_name,
        source=SOURCE,
        url=_osm_url(found.osm_type, found.osm_id),
    )


def _tip_fact(feature: _Feature) -> PlaceFact:
    about = feature.properties
    kind = _KIND_OF_LETTER.get(about.osm_type, "")
    lon, lat = feature.geometry.coordinates
    street = f"{about.street} {about.housenumber}".strip()
    area = (street, about.district, about.city, about.county, about.state, about.country)
    return PlaceFact(
        id=f"{kind}/{about.osm_id}",
        name=about.name,
        place_kind=about.osm_value.replace("_", " "),
        point=LatLon(lat=lat, lon=lon),
        country_code=about.countrycode.upper(),
        admin1=about.state,
        address=", ".join(dict.fromkeys(part for part in area if part)),
        source=SOURCE,
        url=_osm_url(kind, about.osm_id),
    )


def _element_fact(element: _Element) -> PlaceFact:
    tags = element.tags
    at = element.center or (
        _Centre(lat=element.lat, lon=element.lon) if element.lat is not None and element.lon is not None else None
    )
    street = " ".join(tags[key] for key in ("addr:street", "addr:housenumber") if key in tags)
    area = [tags[key] for key in ("addr:suburb", "addr:city", "addr:postcode", "addr:country") if key in tags]
    return PlaceFact(
        id=f"{element.type}/{element.id}",
        name=tags.get("name:en") or tags.get("name", ""),
        place_kind=next((f"{key} {tags[key]}".replace("_", " ") for key in _PLACE_KEYS if key in tags), ""),
        point=LatLon(lat=at.lat, lon=at.lon) if at else None,
        country_code=tags.get("addr:country", "").upper()[:2],
        address=", ".join(part for part in (street, *area) if part),
        source=SOURCE,
        url=_osm_url(element.type, element.id),
    )


def _osm_url(kind: str, number: int) -> str:
    return f"https://www.openstreetmap.org/{kind}/{number}"


def _make_maps(parts: ProviderParts) -> tiles.TileMaps:
    urls = parts.settings.urls
    templates: dict[Style, str] = {"map": urls.get("tiles", tiles.OSM_TILES)}
    if "satellite_tiles" in urls:
        templates["satellite"] = urls["satellite_tiles"]
    return tiles.TileMaps(parts.client_for("tiles", tiles.LIMITS), templates, contact=parts.contact)


PROVIDER: Final = Provider(LIMITS, places=OsmPlaces, maps=_make_maps)
