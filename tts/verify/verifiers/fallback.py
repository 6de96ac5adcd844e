"""The fallback answer: if the verifier fails or does not answer in time, the caller gets an unchecked answer."""

from __future__ import annotations

import numpy as np

from tts.decision_weights import weights
from tts.domain.answer import Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.geo import distance_matrix_km
from tts.domain.hypothesis import Level
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import rough_exactness

_UNCHECKED_KM = weights("radii")["unchecked_km"]
_UNCALIBRATED = CalibrationState(state="transferred")


def fallback_verdict(request: VerifyRequest, problem: str) -> Verdict:
    """The medoid of the points the rollouts state, unchecked, with a radius that says so."""
    ordered = sorted(request.trajectories, key=lambda t: t.rollout_id)
    stated = [best for t in ordered if (best := t.best) is not None and best.point is not None]
    target = request.options.target_radius_km
    warnings = (problem, "nothing was checked")
    if not stated:
        return Verdict(
            lat=None,
            lon=None,
            radius_km=None,
            level=Level.NONE,
            abstained=True,
            confidence=0.0,
            target_radius_km=target,
            warnings=warnings,
            calibration=_UNCALIBRATED,
        )
    km = distance_matrix_km([h.point for h in stated if h.point is not None])
    chosen = stated[int(np.argmin(np.log1p(km).sum(axis=1)))]
    assert chosen.point is not None
    p50 = max(_UNCHECKED_KM, float(np.median(km)))
    exact = rough_exactness(p50, 10 * p50, target_km=target)
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
        calibration=_UNCALIBRATED,
    )
