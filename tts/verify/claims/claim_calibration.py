"""Computes the probability that a claim is true from the mass of a belief in the claimed area.

A belief is not equally reliable for likely and for unlikely areas. Therefore a logistic function of its log-odds was
fitted to claims about drawn scenes (`geotts bench check --write`, seeds apart from those that are measured). It ships
for the embedded engine and its own tools. For other engines the mass under their own fitted radii (`geotts accept`)
stands as it is. How much likelier the photo made a place (the Bayes factor) is no feature: it is huge for any small
place with some mass, also where most of the belief lies elsewhere.
"""

from __future__ import annotations

import importlib.resources
import math
from datetime import date

import yaml

from tts.decision_weights import weights
from tts.domain.value import Value

_MIN_PROBABILITY = weights("claims")["least"]
_MAX_PROBABILITY = weights("claims")["most"]


class ClaimCalibration(Value):
    """log-odds = `intercept` + `mass`·logit(mass)."""

    origin: str = ""
    command: str = ""
    fitted_on: date | None = None
    claims: int = 0
    intercept: float = 0.0
    mass: float = 1.0

    def probability(self, mass: float) -> float:
        """The probability of a claim, in [0.002, 0.998]."""
        score = self.intercept + self.mass * log_odds(mass)
        return min(_MAX_PROBABILITY, max(_MIN_PROBABILITY, 1.0 / (1.0 + math.exp(-score))))


def shipped_claim_calibration(engine: str) -> ClaimCalibration:
    """What was fitted for an engine, or the identity."""
    file = importlib.resources.files("tts").joinpath("data/claims", f"{engine}.yaml")
    return ClaimCalibration.model_validate(yaml.safe_load(file.read_text())) if file.is_file() else ClaimCalibration()


def log_odds(share: float) -> float:
    """Of a share that is clipped to [0.0001, 0.9999]."""
    bounded = min(1.0 - 1e-4, max(1e-4, share))
    return math.log(bounded / (1.0 - bounded))
