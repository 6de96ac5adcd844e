"""The answer of last resort: when the verifier is down, slow or silent, the caller still gets the best there is."""

from __future__ import annotations

import numpy as np

from tts.domain.answer import Radius, Verdict
from tts.domain.geo import distance_matrix_km
from tts.domain.hypothesis import Level
from tts.ports import VerifyRequest


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
        )
    km = distance_matrix_km([h.point for h in stated if h.point is not None])
    chosen = stated[int(np.argmin(np.log1p(km).sum(axis=1)))]
    assert chosen.point is not None
    p50 = max(100.0, float(np.median(km)))
    return Verdict(
        lat=chosen.point.lat,
        lon=chosen.point.lon,
        radius_km=Radius(p50=p50, p90=10 * p50),
        level=chosen.level,
        abstained=False,
        country=chosen.country,
        country_code=chosen.country_code,
        region=chosen.region,
        city=chosen.city,
        place=chosen.place,
        confidence=0.1,
        target_radius_km=target,
        warnings=warnings,
    )
