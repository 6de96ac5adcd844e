"""The cover of the regions of answers, and how much smaller regions are than circles.

Both are read off the polygons as callers get them: the point-in-polygon test is that of Shapely, the area that on the
ellipsoid (PROJ). That of a circle is the one on the sphere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from shapely.geometry import Point, box, shape

from tts.domain.answer import Radius
from tts.domain.geo import EARTH_RADIUS_KM, WGS84, LatLon, distance_km
from tts.domain.region import Region
from tts.domain.value import Value
from tts.eval.metrics.intervals import Interval, bootstrap_ratio, share_interval

_HEMISPHERES = (box(-180, -90, 0, 90), box(0, -90, 180, 90))


@dataclass(frozen=True, slots=True)
class KnownArea:
    """The areas of one answer, and the true place. Without regions its circles are its areas."""

    point: LatLon
    radius: Radius
    region_50: Region | None
    region_90: Region | None
    truth: LatLon


class RegionFigures(Value):
    """Covers in percent with 95 % intervals: `regions_cover90` of all answers, by their region or else their circle;
    `several_*` of the `several` answers with a region, where `circles_cover90` is what their circles hold. `area_ratio`
    is the area of their 90 % regions to that of their 90 % circles."""

    answers: int
    several: int
    regions_cover90: float
    regions_cover90_interval: tuple[float, float]
    several_cover90: float | None = None
    several_cover90_interval: tuple[float, float] | None = None
    several_cover50: float | None = None
    circles_cover90: float | None = None
    area_ratio: float | None = None
    area_ratio_interval: tuple[float, float] | None = None


def region_figures(areas: Sequence[KnownArea]) -> RegionFigures:
    """Needs at least one answer."""
    whole = _cover90(areas)
    several = [one for one in areas if one.region_90 is not None]
    found = RegionFigures(
        answers=len(areas),
        several=len(several),
        regions_cover90=round(whole.value, 2),
        regions_cover90_interval=(round(whole.low, 2), round(whole.high, 2)),
    )
    return found if not several else found.model_copy(update=_figures_of_several(several))


def _figures_of_several(areas: Sequence[KnownArea]) -> dict[str, object]:
    inside = _cover90(areas)
    half = share_interval(
        np.array([_contains_truth(one.region_50, one.truth, one.point, one.radius.p50) for one in areas])
    )
    circled = share_interval(np.array([distance_km(one.point, one.truth) <= one.radius.p90 for one in areas]))
    parts = np.array([area_km2(one.region_90) for one in areas if one.region_90 is not None])
    wholes = np.array([_circle_km2(one) for one in areas])
    ratio = bootstrap_ratio(parts, wholes)
    return {
        "several_cover90": round(inside.value, 2),
        "several_cover90_interval": (round(inside.low, 2), round(inside.high, 2)),
        "several_cover50": round(half.value, 2),
        "circles_cover90": round(circled.value, 2),
        "area_ratio": round(ratio.value, 4),
        "area_ratio_interval": (round(ratio.low, 4), round(ratio.high, 4)),
    }


def _cover90(areas: Sequence[KnownArea]) -> Interval:
    held = [_contains_truth(one.region_90, one.truth, one.point, one.radius.p90) for one in areas]
    return share_interval(np.array(held))


def area_km2(region: Region) -> float:
    """The area on the ellipsoid; by halves of the world, as the ring of the whole world has no inside."""
    halves = [shape(region.jsonable()).intersection(half) for half in _HEMISPHERES]
    return sum(abs(float(WGS84.geometry_area_perimeter(part)[0])) for part in halves) / 1e6


def _contains_truth(region: Region | None, truth: LatLon, point: LatLon, radius_km: float) -> bool:
    if region is None:
        return distance_km(point, truth) <= radius_km
    return bool(shape(region.jsonable()).covers(Point(truth.lon, truth.lat)))


def _circle_km2(one: KnownArea) -> float:
    return 2 * math.pi * EARTH_RADIUS_KM**2 * (1 - math.cos(min(math.pi, one.radius.p90 / EARTH_RADIUS_KM)))
