"""Computes both radii, the level and the confidence of an answer together, so that they never contradict each other.

The invariants, which hold for every finished verdict:

* an abstention has no point, no radius and confidence 0; everything else has all three;
* 0 < 50 % radius < 90 % radius ≤ half the circumference of the Earth; 90 % is at least as much wider as it is where all
  points of a circle are equally likely;
* the level is the finest one whose limit the 50 % radius keeps, and no name is finer than the level;
* the confidence is below 50 % for a target inside the 50 % radius, between 50 % and 90 % from there to the 90 % radius,
  and 90 % or more from there on, also when it is printed in whole percent.

Where the 50 % radius is not the calibration's own, distances are stretched by as much, and the confidence with them:
all three are of one distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tts.domain.answer import Radius, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM
from tts.domain.hypothesis import Level
from tts.verify.consensus.calibration import Outlook

# A level is named when half of such answers are at most this far off.
LIMITS_KM = ((Level.POINT, 3.0), (Level.CITY, 40.0), (Level.REGION, 200.0), (Level.COUNTRY, 1500.0))
_FLOOR_KM = {Level.CITY: 3.0, Level.REGION: 40.0, Level.COUNTRY: 200.0, Level.NONE: 1500.0}
_FINEST = {"region": Level.REGION, "city": Level.CITY, "place": Level.POINT, "country": Level.COUNTRY}
_LEAST, _MOST = 0.01, 0.99
_STEP_KM = 0.01  # radii are told to ten metres
_EVEN = math.sqrt(0.9 / 0.5)  # 90 % radius to 50 % radius where all points of a circle are equally likely
_WIDEST_P50_KM = HALF_CIRCUMFERENCE_KM / _EVEN


@dataclass(frozen=True, slots=True)
class Exactness:
    """What an answer promises about its point."""

    radius: Radius
    level: Level
    confidence: float


def exactness_of(
    outlook: Outlook, *, target_km: float, stated: Level | None = None, town_found: bool = False
) -> Exactness:
    """From a calibrated outlook, and from what its calibration cannot know of one answer.

    `stated` is the level that the rollouts claim, where nothing ties their point to a spot: one that only claims a
    country stands for all of it, and is given no smaller radius than that of a country. The same holds for the centre
    of a town whose name was read. `town_found`: a tool's result
    names the town of the point, and the calibration has seen no tools: half of such answers lie in the town.
    """
    p50 = own = max(_STEP_KM, outlook.radius.p50)
    if town_found:
        p50 = min(p50, dict(LIMITS_KM)[Level.CITY])
    if stated is not None and p50 <= _FLOOR_KM.get(stated, 0.0):
        p50 = _FLOOR_KM[stated] + _STEP_KM
    return _agreeing(p50, outlook.radius.p90, outlook.probability_within(target_km * own / p50), target_km)


def rough_exactness(p50_km: float, p90_km: float, *, target_km: float) -> Exactness:
    """From two radii alone, where nothing was calibrated."""
    return _agreeing(p50_km, p90_km, 0.5 * target_km / p50_km, target_km)


def doubted(verdict: Verdict, confidence: float) -> Verdict:
    """The verdict with a lower confidence, and radii and names that a lower confidence allows."""
    radius, target = verdict.radius_km, verdict.target_radius_km
    if radius is None or confidence >= verdict.confidence:
        return verdict
    confidence = max(_LEAST, confidence)
    p50, p90 = radius.p50, radius.p90
    if confidence < 0.5 and target >= p50:
        p50 = target * 0.5 / confidence
    if confidence < 0.9 and target >= p90:
        p90 = target * 0.9 / confidence
    found = _agreeing(p50, p90, confidence, target)
    kept: dict[str, object] = {name: "" for name, level in _FINEST.items() if level.rank > found.level.rank}
    if "country" in kept:
        kept["country_code"] = ""
    if "city" in kept:
        kept["town_centre"] = False
    kept |= dict.fromkeys(("region_50", "region_90"))  # they were fitted together with the radii that no longer hold
    update = {"radius_km": found.radius, "level": found.level, "confidence": found.confidence, **kept}
    return verdict.model_copy(update=update)


def level_of(p50_km: float) -> Level:
    """The finest level that a median error supports."""
    return next((level for level, km in LIMITS_KM if p50_km <= km), Level.NONE)


def _agreeing(p50_km: float, p90_km: float, confidence: float, target_km: float) -> Exactness:
    p50 = round(min(_WIDEST_P50_KM, max(_STEP_KM, p50_km)), 2)
    p90 = round(min(HALF_CIRCUMFERENCE_KM, max(_EVEN * p50 + _STEP_KM, p90_km)), 2)
    low, high = _band(target_km, p50, p90)
    return Exactness(Radius(p50=p50, p90=p90), level_of(p50), round(min(high, max(low, confidence)), 4))


def _band(target_km: float, p50_km: float, p90_km: float) -> tuple[float, float]:
    """The least and the highest confidence for a target, with such radii."""
    return (_LEAST, 0.49) if target_km < p50_km else (0.5, 0.89) if target_km < p90_km else (0.9, _MOST)
