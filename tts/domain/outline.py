"""The outlines of countries and regions, as exports and the page draw them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tts.domain.geo import LatLon


class Outline(NamedTuple):
    """`geometry` is a GeoJSON MultiPolygon (RFC 7946) in degrees on WGS-84: simplified, with holes where other
    countries lie inside, cut at the antimeridian. `middle` is a point in its largest part. `source` says where the
    borders are from.
    """

    geometry: dict[str, Any]
    middle: LatLon
    source: str


class AnswerOutlines(NamedTuple):
    """`claimed`: of the places of a check, in their order, None for a circle or a rectangle. `known`: of the country or
    region, where an answer knows no more than that."""

    claimed: tuple[Outline | None, ...] = ()
    known: Outline | None = None


NO_OUTLINES: Final = AnswerOutlines()
