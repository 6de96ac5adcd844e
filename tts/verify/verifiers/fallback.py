"""The fallback answer: if the verifier fails or does not answer in time, the caller gets an unchecked answer.

It needs no gazetteer, and nothing that could fail too. The caller's area and the places that the caller ruled out hold
also here; where it cannot be told whether a ruled-out region holds a point, the point does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from tts.clues.ruled_out_places import RuledOut, in_area
from tts.decision_weights import weights
from tts.domain.answer import HintOutcome, Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import LatLon, distance_matrix_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.request import LocateOptions
from tts.geodata import countries
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import rough_exactness
from tts.verify.consensus.area_constraint import in_caller_area

_R = weights("radii")
_MIN_UNCHECKED_P50_KM = _R["unchecked_km"]
_UNCHECKED_P90_RATIO = _R["unchecked_90"]
_UNCALIBRATED = CalibrationState(state="transferred")
_EXCLUDED_WARNING = "every place that a rollout found is outside the area, or may lie in a place that was ruled out"


def fallback_verdict(request: VerifyRequest, problem: str) -> Verdict:
    """The medoid of the points the rollouts state, as far as the caller allows them: unchecked, with a radius that says
    so."""
    ordered = sorted(request.trajectories, key=lambda t: t.rollout_id)
    with_points = [best for t in ordered if (best := t.best) is not None and best.point is not None]
    allowed = _allowed_hypotheses(with_points, request.options)
    target = request.options.target_radius_km
    warnings = (problem, "nothing was checked")
    if not allowed:
        return Verdict(
            lat=None,
            lon=None,
            radius_km=None,
            level=Level.NONE,
            abstained=True,
            confidence=0.0,
            target_radius_km=target,
            warnings=(*warnings, _EXCLUDED_WARNING) if with_points else warnings,
            hint=_unchecked_hint(request.options.hint),
            calibration=_UNCALIBRATED,
        )
    km = distance_matrix_km([h.point for h in allowed if h.point is not None])
    chosen = allowed[int(np.argmin(np.log1p(km).sum(axis=1)))]
    assert chosen.point is not None
    p50 = max(_MIN_UNCHECKED_P50_KM, float(np.median(km)))
    exact = rough_exactness(p50, _UNCHECKED_P90_RATIO * p50, target_km=target)
    names = {name: getattr(chosen, name) for name in ("country", "country_code", "region")}
    if exact.level.rank < Level.REGION.rank:
        names["region"] = ""
    if exact.level is Level.NONE:
        names = {}
    return Verdict(
        lat=chosen.point.lat,
        lon=chosen.point.lon,
        radius_km=exact.radius,
        level=exact.level,
        abstained=False,
        **names,
        confidence=exact.confidence,
        target_radius_km=target,
        warnings=warnings,
        hint=_unchecked_hint(request.options.hint),
        calibration=_UNCALIBRATED,
    )


def _unchecked_hint(hint: str | None) -> HintOutcome | None:
    if not hint:
        return None
    return HintOutcome(outcome="unchecked", text="Your hint was not checked, because nothing was.")


def _allowed_hypotheses(stated: Iterable[Hypothesis], options: LocateOptions) -> list[Hypothesis]:
    within, excluded = options.within, RuledOut.from_options(options).places
    return [
        one
        for one in stated
        if one.point is not None
        and (within is None or in_caller_area(one.point, within, _country_outlines()))
        and not any(_may_contain_point(place, one.point) for place in excluded)
    ]


def _may_contain_point(place: ClaimedPlace, point: LatLon) -> bool:
    """Without towns it cannot be told which region of a country holds a point: any of them may."""
    lat, lon = np.array([point.lat]), np.array([point.lon])
    return any(bool(in_area(area, lat, lon, _country_outlines())[0]) for area in place.areas)


@cache
def _country_outlines() -> countries.Countries:
    return countries.Countries()
