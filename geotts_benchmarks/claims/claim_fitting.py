"""Fits the calibration of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geotts_benchmarks.claims.scene_claims import ClaimCase
from tts.domain.geo import Floats
from tts.verify.claims.claim_calibration import ClaimCalibration, log_odds

_RIDGE_WEIGHT = 1.0
_MAX_STEPS = 50


@dataclass(frozen=True, slots=True)
class WeighedCase:
    """A claim about a scene with what the belief says of it, before any calibration."""

    scene: int
    case: ClaimCase
    mass: float
    bayes_factor: float


def fit_claims(cases: Sequence[WeighedCase], origin: str) -> ClaimCalibration:
    """Logistic regression by Newton's method with a small ridge. Claims that no sign decides are left out: how many of
    them are true was chosen when they were made up."""
    cases = [case for case in cases if case.case.family != "undecidable"]
    x = np.array([[1.0, log_odds(case.mass)] for case in cases])
    y = np.array([case.case.true for case in cases], dtype=np.float64)
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE_WEIGHT * np.eye(x.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(_MAX_STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        slope = x.T @ (y - p) - ridge @ weights
        weights = weights + np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + ridge, slope)
    intercept, mass = (float(f"{weight:.4g}") for weight in weights)
    return ClaimCalibration(origin=origin, claims=len(cases), intercept=intercept, mass=mass)


def probabilities(cases: Sequence[WeighedCase], calibration: ClaimCalibration) -> Floats:
    """(n,) the probability of each claim."""
    return np.array([calibration.probability(c.mass) for c in cases])
