"""Map pictures as the released tools show them: 500x500 pixels around a point, as near as the service goes.

The authors photograph AMap's JavaScript map in a browser at zoom 19. AMap's static map, which needs no browser, goes to
zoom 17 and takes six decimals; a satellite picture comes from another provider. The point is in the datum of the source
and is not converted.
"""

from __future__ import annotations

import math
from typing import Final, Literal, Protocol

from tools.maps import MapPicture, MapsProvider, Style
from tools.providers import amap, google
from tools.providers.provider import ProviderParts, Service
from tools.tool_provider import StandIn, ToolProvider
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import Datum
from tts.errors import ToolError, ToolErrorKind
from tts.geodata.datum import as_wgs84
from tts.toolkit.broker.provider_client import ProviderRequest

SIDE_PX: Final = 500
ZOOM: Final = 19  # amap_static_map_sync.py:210-212, api_server_redis.py:335
_AMAP_MAX_ZOOM: Final = 17  # AMap's reference of its static map: 1 to 17, also with scale=2
_MAX_BYTES: Final = 4 * 2**20

Marker = Literal["none", "red_s"]
"""What stands at the point: nothing, or the red S of the notebook."""


class MapSource(ToolProvider, Protocol):
    """Map pictures around a point, in the datum of the source."""

    @property
    def datum(self) -> Datum:
        """Of the points it is asked for."""
        ...

    async def picture(
        self, style: Style, lat: float, lon: float, *, marker: Marker, context: RequestContext
    ) -> MapPicture:
        """Draw a picture with the point in its middle.

        Args:
            style: a map or a satellite picture.
            lat: degrees in the datum of the source, as the model wrote them, on Earth or not.
            lon: as `lat`.
            marker: how the point is marked, where the source can.
            context: the request for which it is asked.

        Returns:
            A picture of 500x500 pixels.

        Raises:
            ToolError: no picture came.
        """
        ...


class AmapMaps(Service):
    """AMap's static map.

    Args:
        parts: what the provider is made of.
        satellite: draws what AMap's web service does not.
    """

    name: Final = "amap"
    datum: Final = "GCJ-02"

    def __init__(self, parts: ProviderParts, satellite: MapSource) -> None:
        super().__init__(parts)
        self._satellite = satellite

    async def picture(
        self, style: Style, lat: float, lon: float, *, marker: Marker, context: RequestContext
    ) -> MapPicture:
        """Street maps at zoom 17 without a marker. `satellite` is left to the other source."""
        if style == "satellite":
            return await self._satellite.picture(style, lat, lon, marker=marker, context=context)
        parameters = {"location": f"{lon:.6f},{lat:.6f}", "zoom": str(_AMAP_MAX_ZOOM), "size": f"{SIDE_PX}*{SIDE_PX}"}
        types = ("image/", "application/json")
        request = ProviderRequest(f"{self._base}/v3/staticmap", parameters, content_types=types, max_bytes=_MAX_BYTES)
        reply = await self._client.ask(request, context, amap.judge_picture)
        return MapPicture(reply.content, reply.content_type, SIDE_PX, SIDE_PX, float(_AMAP_MAX_ZOOM), "")


class GoogleMaps(Service):
    """Google's static map, as the notebook and the client of the training code ask for it.

    Args:
        parts: what the provider is made of.
    """

    name: Final = "google"
    datum: Final = "WGS-84"

    def __init__(self, parts: ProviderParts) -> None:
        super().__init__(parts)
        self._base = parts.base or google.MAPS_URL

    async def picture(
        self, style: Style, lat: float, lon: float, *, marker: Marker, context: RequestContext
    ) -> MapPicture:
        """Zoom 19. `lat` and `lon` are sent with all their digits."""
        centre = f"{lat},{lon}"
        parameters = {
            "center": centre,
            "zoom": str(ZOOM),
            "size": f"{SIDE_PX}x{SIDE_PX}",
            "maptype": "roadmap" if style == "map" else "satellite",
        }
        if marker == "red_s":
            parameters["markers"] = f"color:red|label:S|{centre}"
        request = ProviderRequest(
            f"{self._base}/maps/api/staticmap",
            parameters,
            content_types=("image/",),
            max_bytes=_MAX_BYTES,
            key_place=google.IN_QUERY,
        )
        reply = await self._client.ask(request, context)
        return MapPicture(reply.content, reply.content_type, SIDE_PX, SIDE_PX, float(ZOOM), "")


class NoMaps:
    """The `MapsProvider` where none is configured."""

    name: Final = "none"
    needs_network: Final = False
    styles: Final = frozenset[Style]()

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """Always raises ToolError (BLOCKED)."""
        raise ToolError("no provider has maps", kind=ToolErrorKind.BLOCKED)


class StandInMaps(StandIn[MapsProvider]):
    """Another provider's maps.

    Args:
        provider: draws the maps; it takes points in WGS-84.
        datum: that of the points this source is asked for.
    """

    def __init__(self, provider: MapsProvider, datum: Datum) -> None:
        super().__init__(provider)
        self.datum = datum

    async def picture(
        self, style: Style, lat: float, lon: float, *, marker: Marker, context: RequestContext
    ) -> MapPicture:
        """Zoom 19 without a marker. Latitudes are cut at 90 degrees, longitudes are wrapped.

        Raises ToolError for a style that the provider lacks, and for numbers that are not finite.
        """
        if style not in self._provider.styles:
            raise ToolError(f"{self.name} has no {style} pictures", kind=ToolErrorKind.BLOCKED)
        point = as_wgs84(_point_on_earth(lat, lon), self.datum)
        return await self._provider.picture(
            point, style=style, zoom=float(ZOOM), width=SIDE_PX, height=SIDE_PX, context=context
        )


def _point_on_earth(lat: float, lon: float) -> LatLon:
    """The point on Earth for numbers that need not be one: the services draw something for any."""
    if not (math.isfinite(lat) and math.isfinite(lon)):
        raise ToolError("there is no such point", kind=ToolErrorKind.NOT_FOUND)
    return LatLon(lat=max(-90.0, min(90.0, lat)), lon=(lon + 180.0) % 360.0 - 180.0 if abs(lon) > 180 else lon)
