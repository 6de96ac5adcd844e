"""AMap (Gaode) web services: places and maps of mainland China. Its points are in GCJ-02 and are converted here.

https://lbs.amap.com/api/webservice/guide/api/search (v3: text, detail), /inputtips, /georegeo, /staticmaps
Empty fields come as empty lists. Errors come with status 200 and an `infocode` (…/guide/tools/info).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from tools.maps import MapPicture, Style
from tools.providers.provider import Provider, Service
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.errors import ToolError, ToolErrorKind
from tts.geodata.datum import to_gcj02, to_wgs84
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import (
    KeyPlace,
    ProviderFailure,
    ProviderRequest,
    Reply,
    judge_status,
)
from tts.toolkit.broker.provider_limits import ProviderLimits

KEY_PARAMETER: Final = "key"
BASE_URL: Final = "https://restapi.amap.com"
LIMITS: Final = ProviderLimits(per_s=3.0, burst=3.0, max_running=3)
_COUNTRY_OF_CODE: Final = {"71": "TW", "81": "HK", "82": "MO"}
_QUOTA_CODES = frozenset({"10003", "10044", "10045", "40000", "40002", "40003"})
_RATE_LIMIT_CODES = frozenset({"10004", "10014", "10015", "10019", "10020", "10021", "10029"})
_KEY_CODES = frozenset(
    {"10001", "10002", "10005", "10006", "10007", "10008", "10009", "10012", "10013", "10026", "10041"}
)
_PASSING_CODES = frozenset({"10016", "10017", "10053", "30001", "30002", "30003"})
_DETAILED_ZOOM = 17


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


Text = Annotated[str, BeforeValidator(_text_or_empty)]


class _Answer(Reply):
    status: str
    info: Text = ""
    infocode: Text = ""


class _Poi(Reply):
    id: Text = ""
    name: Text = ""
    type: Text = ""
    address: Text = ""
    district: Text = ""
    location: Text = ""
    pname: Text = ""
    cityname: Text = ""
    adname: Text = ""
    adcode: Text = ""


class _Tips(_Answer):
    tips: tuple[_Poi, ...] = ()


class _Pois(_Answer):
    pois: tuple[_Poi, ...] = ()


class _Geocode(Reply):
    formatted_address: Text = ""
    province: Text = ""
    location: Text = ""
    level: Text = ""
    adcode: Text = ""


class _Geocodes(_Answer):
    geocodes: tuple[_Geocode, ...] = ()


class _Component(Reply):
    province: Text = ""
    adcode: Text = ""


class _Regeocode(Reply):
    formatted_address: Text = ""
    component: Annotated[_Component, Field(alias="addressComponent")] = _Component()
    pois: tuple[_Poi, ...] = ()


class _Regeo(_Answer):
    regeocode: _Regeocode = _Regeocode()


class Amap(Service):
    """The `PlacesProvider` and the `MapsProvider` of mainland China. There is no satellite picture over this API."""

    name: Final = "amap"
    styles: Final = frozenset[Style](("map",))

    def owns(self, place_id: str) -> bool:
        """AMap's ids are ten capitals and digits that begin with B."""
        return len(place_id) == 10 and place_id[0] == "B" and place_id.isalnum() and place_id.isupper()

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """The first page of AMap's text search. It knows China only, whatever `country` is."""
        parameters = {"keywords": query, "offset": str(limit), "page": "1", "extensions": "base"}
        reply = await self._client.read(self._make_request("place/text", parameters), context, _Pois, _failure_of)
        return [_fact(poi) for poi in reply.pois[:limit] if poi.id]

    async def autocomplete(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """AMap's input tips; those without an id are left out."""
        reply = await self._client.read(
            self._make_request("assistant/inputtips", {"keywords": query, "datatype": "poi"}),
            context,
            _Tips,
            _failure_of,
        )
        return [_fact(tip) for tip in reply.tips if tip.id][:limit]

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """The place of an AMap id; None when the reply lists none."""
        reply = await self._client.read(
            self._make_request("place/detail", {"id": place_id}), context, _Pois, _failure_of
        )
        return _fact(reply.pois[0]) if reply.pois else None

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Positions of an address; ids are administrative codes."""
        reply = await self._client.read(
            self._make_request("geocode/geo", {"address": address}), context, _Geocodes, _failure_of
        )
        return [
            PlaceFact(
                id=f"adcode:{found.adcode}",
                name=found.formatted_address,
                place_kind=found.level,
                point=_point(found.location),
                country_code=_country(found.adcode),
                admin1=found.province,
                source="AMap",
            )
            for found in reply.geocodes[:limit]
        ]

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """The address at the point first, then places within 1 km; `point` is turned to GCJ-02 before it is sent."""
        parameters = {"location": _location_text(to_gcj02(point)), "extensions": "all", "radius": "1000"}
        reply = await self._client.read(self._make_request("geocode/regeo", parameters), context, _Regeo, _failure_of)
        found = reply.regeocode
        place = found.component
        near = [
            _fact(poi).model_copy(update={"country_code": _country(place.adcode), "admin1": place.province})
            for poi in found.pois[: limit - 1]
        ]
        if not found.formatted_address:
            return near
        here = PlaceFact(
            id=f"adcode:{place.adcode}",
            name=found.formatted_address,
            place_kind="address",
            point=point,
            country_code=_country(place.adcode),
            admin1=place.province,
            source="AMap",
        )
        return [here, *near]

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """A map of at most 1024 pixels a side at a whole zoom from 1 to 17. UNAVAILABLE for satellite."""
        if style != "map":
            raise ToolError("AMap serves no satellite pictures here", kind=ToolErrorKind.UNAVAILABLE)
        shown = min(_DETAILED_ZOOM, max(1, round(zoom)))
        centre = _location_text(to_gcj02(point))
        size = f"{min(width, 1024)}*{min(height, 1024)}"
        parameters = {"location": centre, "zoom": str(shown), "size": size, "markers": f"mid,,A:{centre}"}
        request = ProviderRequest(
            f"{self._base}/v3/staticmap", parameters, content_types=("image/", "application/json"), max_bytes=4 * 2**20
        )
        reply = await self._client.ask(request, context, judge_picture)
        note = f"Zoom {shown}. Source: AMap."
        return MapPicture(reply.content, reply.content_type, min(width, 1024), min(height, 1024), float(shown), note)

    def _make_request(self, service: str, parameters: dict[str, str]) -> ProviderRequest:
        return ProviderRequest(f"{self._base}/v3/{service}", {**parameters, "output": "JSON"})


def _failure_of(answer: _Answer) -> ProviderFailure | None:
    """What an infocode means. 10000 is success; 20xxx are our own parameters, or no result."""
    code = answer.infocode
    if answer.status == "1" or code == "10000":
        return None
    if code in _QUOTA_CODES:
        return ProviderFailure("quota", f"the quota is used up ({code})")
    if code in _RATE_LIMIT_CODES:
        return ProviderFailure("rate", f"asked too often ({code})", 1.0)
    if code in _KEY_CODES:
        return ProviderFailure("key", f"the key is refused ({code})")
    if code in _PASSING_CODES:
        return ProviderFailure("passing", f"the service is failing ({code})")
    return ProviderFailure("refused", f"the request was refused ({code})")


def failure_in(content: bytes) -> ProviderFailure | None:
    """What a reply of any of the web services says went wrong.

    Args:
        content: the body of the reply, in JSON.

    Returns:
        None for a success.

    Raises:
        ValueError: the body is not in the form of AMap's replies.
    """
    return _failure_of(_Answer.model_validate_json(content))


def judge_picture(reply: HttpReply) -> ProviderFailure | None:
    """Refusals of the static map come as JSON with status 200.

    Args:
        reply: a whole reply of the static map, of any status.

    Returns:
        What went wrong; None for a picture.
    """
    if (failure := judge_status(reply)) is not None or reply.content_type.startswith("image/"):
        return failure
    try:
        return failure_in(reply.content) or ProviderFailure("passing", "no picture came")
    except ValueError:
        return ProviderFailure("passing", "the reply cannot be read")


def _fact(poi: _Poi) -> PlaceFact:
    area = "".join(dict.fromkeys(part for part in (poi.pname, poi.cityname, poi.adname) if part)) or poi.district
    return PlaceFact(
        id=poi.id,
        name=poi.name,
        place_kind=poi.type.replace(";", ", "),
        point=_point(poi.location),
        country_code=_country(poi.adcode),
        admin1=poi.pname,
        address=f"{area}{poi.address}",
        source="AMap",
        url=f"https://www.amap.com/place/{poi.id}",
    )


def _country(adcode: str) -> str:
    return _COUNTRY_OF_CODE.get(adcode[:2], "CN")


def _point(location: str) -> LatLon | None:
    """In WGS-84. AMap writes "longitude,latitude" in GCJ-02."""
    lon, comma, lat = location.partition(",")
    try:
        return to_wgs84(LatLon(lat=float(lat), lon=float(lon))) if comma else None
    except ValueError:
        return None


def _location_text(point: LatLon) -> str:
    return f"{point.lon:.6f},{point.lat:.6f}"


PROVIDER: Final = Provider(
    LIMITS,
    "AMAP_API_KEY",
    KeyPlace("query", KEY_PARAMETER),
    base_url=BASE_URL,
    places=Amap,
    maps=Amap,
    only_china=True,
)
