"""Fits the calibration of claims, and measures it: ranking, calibration error, what is taken for supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.domain.geo import Floats
from tts.eval.claims.scene_claims import ClaimCase
from tts.verify.claims.claim_calibration import ClaimCalibration, log_odds

_RIDGE = 1.0
_STEPS = 50
_BINS = 10


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
    ridge = _RIDGE * np.eye(x.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        slope = x.T @ (y - p) - ridge @ weights
        weights = weights + np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + ridge, slope)
    intercept, mass = (float(f"{weight:.4g}") for weight in weights)
    return ClaimCalibration(origin=origin, claims=len(cases), intercept=intercept, mass=mass)


def probabilities(cases: Sequence[WeighedCase], calibration: ClaimCalibration) -> Floats:
    """(n,) the probability of each claim."""
    return np.array([calibration.probability(c.mass) for c in cases])


def auc(p: Floats, true: Sequence[bool]) -> float:
    """The probability that a true claim gets more than a false one; ties count half."""
    of_true, of_false = p[np.array(true, dtype=bool)], p[~np.array(true, dtype=bool)]
    if not len(of_true) or not len(of_false):
        return float("nan")
    wins = (of_true[:, None] > of_false[None, :]).mean() + 0.5 * (of_true[:, None] == of_false[None, :]).mean()
    return float(wins)


def calibration_error(p: Floats, true: Sequence[bool]) -> float:
    """The expected calibration error over ten bins of equal width (Guo et al. 2017)."""
    y, bins = np.array(true, dtype=np.float64), np.minimum(_BINS - 1, (p * _BINS).astype(int))
    return float(sum(abs((y - p)[bins == k].sum()) for k in range(_BINS)) / max(1, len(p)))
