"""The 50 % and the 90 % region of an answer whose belief has several peaks: a disc around each of them.

Discs are as wide as their peaks are likely. All of a region together have a share of the area of the 90 % circle, which
is fitted (`tts.verify.consensus.region_fitting`) so that regions hold as many true places as they promise. The 50 %
region is the same shape, smaller: it lies inside the 90 % region, and the answer inside both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, model_validator

from tts.decision_weights import weights
from tts.domain.geo import EARTH_RADIUS_KM, Circle, LatLon, distance_km
from tts.domain.geojson import circles_region
from tts.domain.region import Region
from tts.domain.value import Value
from tts.verify.consensus.peaks import Peak

_W = weights("radii")
SMALLER = _W["inner_region"]
_MIN_DISC_RADIUS_KM = _W["floor_km"]  # of a disc of the 50 % region, and half as much as of the 90 % region


class RegionRule(Value):
    """The square roots of the areas of both regions, as shares of the 90 % circle. `cases`: those it was fitted to."""

    origin: str
    scale_50: Annotated[float, Field(gt=0, le=1)]
    scale_90: Annotated[float, Field(gt=0, le=1)]
    cases: int

    @model_validator(mode="after")
    def _check_nesting(self) -> RegionRule:
        if self.scale_50 > SMALLER * self.scale_90:
            raise ValueError("the 50 % region must lie inside the 90 % region")
        return self


@dataclass(frozen=True, slots=True)
class Regions:
    """Both regions of one answer, as discs, the one around the answer first."""

    discs_50: tuple[Circle, ...]
    discs_90: tuple[Circle, ...]

    @property
    def region_50(self) -> Region:
        """The half of all answers."""
        return circles_region(self.discs_50)

    @property
    def region_90(self) -> Region:
        """Nine in ten answers."""
        return circles_region(self.discs_90)


def regions_of(peaks: Sequence[Peak], p90_km: float, rule: RegionRule | None) -> Regions | None:
    """None where a circle says it all: there is one peak, or no rule."""
    if rule is None or len(peaks) < 2:
        return None
    circle_half_chord = _half_chord(p90_km)
    return Regions(
        _make_discs(peaks, rule.scale_50 * circle_half_chord, least_km=_MIN_DISC_RADIUS_KM),
        _make_discs(peaks, rule.scale_90 * circle_half_chord, least_km=2 * _MIN_DISC_RADIUS_KM),
    )


def scale_needed(peaks: Sequence[Peak], p90_km: float, truth: LatLon) -> float:
    """The least scale whose region holds the true place."""
    circle_half_chord = _half_chord(p90_km)
    pairs = zip(peaks, _relative_radii(peaks), strict=True)
    return min(_half_chord(distance_km(peak.point, truth)) / (circle_half_chord * width) for peak, width in pairs)


def _make_discs(peaks: Sequence[Peak], half_chord: float, *, least_km: float) -> tuple[Circle, ...]:
    pairs = zip(peaks, _relative_radii(peaks), strict=True)
    radii = [(_round_point(peak.point), max(least_km, _radius_km(half_chord * width))) for peak, width in pairs]
    return tuple(Circle(centre=point, radius_km=km) for point, km in radii)


def _round_point(point: LatLon) -> LatLon:
    """To ten centimetres, as answers write their points."""
    return LatLon(lat=round(point.lat, 6), lon=round(point.lon, 6))


def _half_chord(radius_km: float) -> float:
    """Of a disc on the unit sphere: its square is the share of the sphere that the disc covers, so that areas add up
    however wide discs are."""
    return math.sin(min(radius_km / EARTH_RADIUS_KM, math.pi) / 2)


def _radius_km(half_chord: float) -> float:
    return 2 * EARTH_RADIUS_KM * math.asin(half_chord)


def _relative_radii(peaks: Sequence[Peak]) -> list[float]:
    """Radii relative to one disc of the same area; no peak is given more than the answer."""
    plain = [min(1.0, peak.share / peaks[0].share) for peak in peaks]
    whole = math.sqrt(sum(width**2 for width in plain))
    return [width / whole for width in plain]
