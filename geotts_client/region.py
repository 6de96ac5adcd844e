"""Where the photo was taken with a given probability, as GeoJSON: an area that may lie in several places."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from geotts_client.value import Value

Lon = Annotated[float, Field(ge=-180, le=180)]
Lat = Annotated[float, Field(ge=-90, le=90)]
Position = tuple[Lon, Lat]
LinearRing = Annotated[tuple[Position, ...], Field(min_length=4)]


class Region(Value):
    """A GeoJSON geometry (RFC 7946, section 3.1.7) in degrees on WGS-84: counter-clockwise rings without holes, cut at
    the antimeridian. It is always a MultiPolygon, even with one polygon."""

    type: Literal["MultiPolygon"] = "MultiPolygon"
    coordinates: Annotated[tuple[tuple[LinearRing, ...], ...], Field(min_length=1)] = Field(
        description="polygons; each is a list of one ring of positions (longitude, latitude), whose first and last "
        "are equal",
    )
