"""Computes both radii, the level and the confidence of an answer together, so that they never contradict each other.

What this module returns for an answer with a point has these properties:

* 0 < 50 % radius < 90 % radius ≤ half the circumference of the Earth. The 90 % radius is at least √(0.9 / 0.5) ≈ 1.34
  times the 50 % radius: the ratio if all points of a circle were equally likely.
* The level is the finest one in `LIMITS_KM` whose limit is at least the 50 % radius; `Level.NONE` if there is none.
* Let the target be the radius that the caller wants. The confidence is from 0.01 to 0.49 if the target is smaller than
  the 50 % radius, from 0.5 to 0.89 if it lies between the two radii, and from 0.9 to 0.99 if it is at least the 90 %
  radius.

`exactness_of` may change the 50 % radius of the calibration. It then reads the confidence at the target divided by the
same factor, as if all distances had been multiplied by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.answer import Radius, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM
from tts.domain.hypothesis import Level
from tts.verify.consensus.calibrated_radii import ErrorDistribution

_W = weights("radii")
# A level is named when half of such answers are at most this far off.
LIMITS_KM = (
    (Level.POINT, _W["point_km"]),
    (Level.CITY, _W["city_km"]),
    (Level.REGION, _W["region_km"]),
    (Level.COUNTRY, _W["country_km"]),
)
# The level before is finer: its limit is where this one begins.
_MIN_P50_KM_BY_LEVEL = {
    Level.CITY: _W["point_km"],
    Level.REGION: _W["city_km"],
    Level.COUNTRY: _W["region_km"],
    Level.NONE: _W["country_km"],
}
_FIELD_LEVELS = {"region": Level.REGION, "city": Level.CITY, "place": Level.POINT, "country": Level.COUNTRY}
_MIN_CONFIDENCE = _W["least_confidence"]
_MAX_CONFIDENCE = _W["most_confidence"]
_RADIUS_STEP_KM = 0.01  # radii are rounded to ten metres
_UNIFORM_P90_RATIO = math.sqrt(0.9 / 0.5)  # 90 % radius to 50 % radius where all points of a circle are equally likely
_MAX_P50_KM = HALF_CIRCUMFERENCE_KM / _UNIFORM_P90_RATIO


@dataclass(frozen=True, slots=True)
class Exactness:
    """Both radii in km, the level, and the probability that the true place lies within the target radius."""

    radius: Radius
    level: Level
    confidence: float


def exactness_of(
    error_distribution: ErrorDistribution, *, target_km: float, stated: Level | None = None, town_found: bool = False
) -> Exactness:
    """Compute radii, level and confidence from a calibrated error distribution, and from two facts beside it.

    Args:
        error_distribution: the radii and the quantiles of the error, from the calibration.
        target_km: the radius that the caller wants, in km, above 0.
        stated: the level that the rollouts state, if the point stands for a whole area: weak evidence supports it, or
            it is the centre of the town that they name. The 50 % radius is then larger than the smallest one of this
            level (`_MIN_P50_KM_BY_LEVEL`). None if the point stands for itself.
        town_found: whether a tool found the town of the point while the calibration was fitted without tools. The 50 %
            radius is then at most the limit of a city (40 km), unless `stated` requires more.
    """
    p50 = calibrated_p50 = max(_RADIUS_STEP_KM, error_distribution.radius.p50)
    if town_found:
        p50 = min(p50, dict(LIMITS_KM)[Level.CITY])
    if stated is not None and p50 <= _MIN_P50_KM_BY_LEVEL.get(stated, 0.0):
        p50 = _MIN_P50_KM_BY_LEVEL[stated] + _RADIUS_STEP_KM
    return _make_consistent(
        p50,
        error_distribution.radius.p90,
        error_distribution.probability_within(target_km * calibrated_p50 / p50),
        target_km,
    )


def rough_exactness(p50_km: float, p90_km: float, *, target_km: float) -> Exactness:
    """Compute radii, level and confidence from two radii in km, for points without an error distribution.

    The confidence is proportional to the target radius, and is 0.5 at the 50 % radius.
    """
    return _make_consistent(p50_km, p90_km, 0.5 * target_km / p50_km, target_km)


def lower_confidence(verdict: Verdict, confidence: float) -> Verdict:
    """Lower the confidence of a verdict, and widen its radii and drop its finer names as that requires.

    The regions are dropped too: they were fitted together with the earlier radii. The verdict is returned unchanged if
    it is an abstention, or if `confidence` is not below its own.
    """
    radius, target = verdict.radius_km, verdict.target_radius_km
    if radius is None or confidence >= verdict.confidence:
        return verdict
    confidence = max(_MIN_CONFIDENCE, confidence)
    p50, p90 = radius.p50, radius.p90
    if confidence < 0.5 and target >= p50:
        p50 = target * 0.5 / confidence
    if confidence < 0.9 and target >= p90:
        p90 = target * 0.9 / confidence
    found = _make_consistent(p50, p90, confidence, target)
    kept: dict[str, object] = {**without_names_beyond(found.level)}
    if "city" in kept:
        kept["town_centre"] = False
    kept |= dict.fromkeys(("region_50", "region_90"))  # they were fitted together with the radii that no longer hold
    update = {"radius_km": found.radius, "level": found.level, "confidence": found.confidence, **kept}
    return verdict.model_copy(update=update)


def widen_radius(verdict: Verdict, p90_km: float) -> Verdict:
    """Widen the 90 % radius of a verdict to this many km, where it is smaller, and lower the confidence as that
    requires. The regions are dropped: they belong to the narrower radii. An abstention is returned unchanged.
    """
    radius = verdict.radius_km
    if radius is None:
        return verdict
    found = _make_consistent(radius.p50, max(radius.p90, p90_km), verdict.confidence, verdict.target_radius_km)
    regions = dict.fromkeys(("region_50", "region_90"))
    return verdict.model_copy(update={"radius_km": found.radius, "confidence": found.confidence, **regions})


def without_names_beyond(level: Level) -> dict[str, str]:
    """The fields of an answer that name something finer than its level, each empty."""
    dropped = {name: "" for name, finest in _FIELD_LEVELS.items() if finest.rank > level.rank}
    return {**dropped, "country_code": ""} if "country" in dropped else dropped


def level_of(p50_km: float) -> Level:
    """The finest level whose limit is at least this 50 % radius in km; `Level.NONE` above 1,500 km."""
    return next((level for level, km in LIMITS_KM if p50_km <= km), Level.NONE)


def _make_consistent(p50_km: float, p90_km: float, confidence: float, target_km: float) -> Exactness:
    p50 = round(min(_MAX_P50_KM, max(_RADIUS_STEP_KM, p50_km)), 2)
    p90 = round(min(HALF_CIRCUMFERENCE_KM, max(_UNIFORM_P90_RATIO * p50 + _RADIUS_STEP_KM, p90_km)), 2)
    low, high = _confidence_bounds(target_km, p50, p90)
    return Exactness(Radius(p50=p50, p90=p90), level_of(p50), round(min(high, max(low, confidence)), 4))


def _confidence_bounds(target_km: float, p50_km: float, p90_km: float) -> tuple[float, float]:
    """The lowest and the highest confidence that these radii allow for a target."""
    return (
        (_MIN_CONFIDENCE, 0.49) if target_km < p50_km else (0.5, 0.89) if target_km < p90_km else (0.9, _MAX_CONFIDENCE)
    )
