"""The outline of a claimed country or region, as exports and the page draw it."""

from __future__ import annotations

from typing import Any, NamedTuple

from tts.domain.geo import LatLon


class Outline(NamedTuple):
    """`geometry` is a GeoJSON MultiPolygon (RFC 7946) in degrees on WGS-84: simplified, with holes where other
    countries lie inside, cut at the antimeridian. `middle` is a point in its largest part. `source` says where the
    borders are from.
    """

    geometry: dict[str, Any]
    middle: LatLon
    source: str
