"""Fits the calibration of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geotts_benchmarks.claims.scene_claims import ClaimCase
from tts.decision_weights import weights as decision_weights
from tts.domain.geo import Floats
from tts.verify.claims.claim_calibration import ClaimCalibration, log_odds

_RIDGE_WEIGHT = 1.0
_MAX_STEPS = 50
_MIN_PROBABILITY = decision_weights("claims")["least"]
_MAX_PROBABILITY = decision_weights("claims")["most"]


@dataclass(frozen=True, slots=True)
class WeighedCase:
    """A claim about a scene with what the belief says of it, before any calibration."""

    scene: int
    case: ClaimCase
    mass: float
    bayes_factor: float


def fit_claims(cases: Sequence[WeighedCase], origin: str) -> ClaimCalibration:
    """Logistic regression by Fisher scoring with a small ridge. Its probabilities have the bounds that a calibration
    gives them, so that one scene that was read quite wrong does not decide the slope. Claims that no sign decides are
    left out: how many of them are true was chosen when they were made up."""
    cases = [case for case in cases if case.case.family != "undecidable"]
    x = np.array([[1.0, log_odds(case.mass)] for case in cases])
    y = np.array([case.case.true for case in cases], dtype=np.float64)
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE_WEIGHT * np.eye(x.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(_MAX_STEPS):
        share = 1.0 / (1.0 + np.exp(-x @ weights))
        p = _MIN_PROBABILITY + (_MAX_PROBABILITY - _MIN_PROBABILITY) * share
        growth = (_MAX_PROBABILITY - _MIN_PROBABILITY) * share * (1.0 - share)
        information = growth / (p * (1.0 - p))
        slope = x.T @ (information * (y - p)) - ridge @ weights
        weights = weights + np.linalg.solve(x.T @ (x * (information * growth)[:, None]) + ridge, slope)
    intercept, mass = (float(f"{weight:.4g}") for weight in weights)
    return ClaimCalibration(origin=origin, claims=len(cases), intercept=intercept, mass=mass)


def probabilities(cases: Sequence[WeighedCase], calibration: ClaimCalibration) -> Floats:
    """(n,) the probability of each claim."""
    return np.array([calibration.probability(c.mass) for c in cases])
