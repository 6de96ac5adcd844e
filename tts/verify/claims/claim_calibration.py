"""From the mass of a belief in a claimed area to the probability that the claim is true.

A belief is not wrong equally often at both ends: a logistic function of its log-odds, and of how much the photo says
about the place at all, was fitted to claims about drawn scenes (`geotts bench check --write`, seeds apart from those
that are measured). It ships for the embedded engine and its own tools. For other engines the mass under their own
fitted radii (`geotts accept`) stands as it is.
"""

from __future__ import annotations

import importlib.resources
import math

import yaml

from tts.domain.value import Value

_LEAST, _MOST = 0.002, 0.998


class ClaimCalibration(Value):
    """log-odds = `intercept` + `mass`·logit(mass) + `gain`·log(Bayes factor)."""

    origin: str = ""
    claims: int = 0
    intercept: float = 0.0
    mass: float = 1.0
    gain: float = 0.0

    def probability(self, mass: float, bayes_factor: float) -> float:
        """The probability of a claim, in [0.002, 0.998]."""
        features = claim_features(mass, bayes_factor)
        score = self.intercept + self.mass * features[0] + self.gain * features[1]
        return min(_MOST, max(_LEAST, 1.0 / (1.0 + math.exp(-score))))


def claim_features(mass: float, bayes_factor: float) -> tuple[float, float]:
    """What the logistic function sees, each clipped to what was seen when it was fitted."""
    return _logit(mass), max(-10.0, min(10.0, math.log(max(1e-9, bayes_factor))))


def shipped_claim_calibration(engine: str) -> ClaimCalibration:
    """What was fitted for an engine, or the identity."""
    file = importlib.resources.files("tts").joinpath("data/claims", f"{engine}.yaml")
    return ClaimCalibration.model_validate(yaml.safe_load(file.read_text())) if file.is_file() else ClaimCalibration()


def _logit(share: float) -> float:
    bounded = min(1.0 - 1e-4, max(1e-4, share))
    return math.log(bounded / (1.0 - bounded))
