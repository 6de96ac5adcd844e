"""Fits how wide the regions of answers with several peaks are, to cases whose true place is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.decision_weights import weights
from tts.domain.geo import Floats, LatLon, distance_km
from tts.verify.consensus.answer_regions import SMALLER, RegionRule, scale_needed
from tts.verify.consensus.peaks import Peak

_W = weights("fitting")
MIN_CASES = int(_W["least_cases"])
_WANTED_COVER_90 = _W["cover_90"]  # of all answers, by region or circle
_MIN_COVER_90 = _W["least_cover"]
_MAX_COVER_90 = _W["most_cover"]
_WANTED_COVER_50 = 0.5


@dataclass(frozen=True, slots=True)
class RegionCase:
    """The peaks of an answer, its 90 % radius, and the true place."""

    peaks: tuple[Peak, ...]
    p90_km: float
    truth: LatLon


def fit_regions(cases: Sequence[RegionCase], *, origin: str) -> RegionRule | None:
    """The rule by which all answers together, with a region or with a circle, cover as many true places as they say.

    None with fewer than 40 cases of several peaks, or where regions would be as large as circles. Deterministic.
    """
    multi_peak_cases = [case for case in cases if len(case.peaks) > 1]
    if len(multi_peak_cases) < MIN_CASES:
        return None
    needed = np.sort([scale_needed(case.peaks, case.p90_km, case.truth) for case in multi_peak_cases])
    covered_by_circle = sum(distance_km(c.peaks[0].point, c.truth) <= c.p90_km for c in cases if len(c.peaks) == 1)
    share = min(
        _MAX_COVER_90, max(_MIN_COVER_90, (_WANTED_COVER_90 * len(cases) - covered_by_circle) / len(multi_peak_cases))
    )
    scale_90 = _conformal_quantile(needed, share)
    if scale_90 >= 1.0:
        return None
    scale_90 = _round_scale(scale_90)
    scale_50 = min(
        math.floor(SMALLER * scale_90 * 1e4) / 1e4, _round_scale(_conformal_quantile(needed, _WANTED_COVER_50))
    )
    return RegionRule(origin=origin, scale_50=scale_50, scale_90=scale_90, cases=len(multi_peak_cases))


def _conformal_quantile(ordered: Floats, share: float) -> float:
    """The smallest scale that n + 1 exchangeable cases stay below with this probability."""
    rank = math.ceil(share * (len(ordered) + 1)) - 1
    return float(ordered[min(rank, len(ordered) - 1)])


def _round_scale(scale: float) -> float:
    """To four digits, and never to zero."""
    return max(1e-4, round(scale, 4))
