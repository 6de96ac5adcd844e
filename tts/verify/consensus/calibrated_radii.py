"""The 50 % and the 90 % radius of an answer, and the probabilities of its distances, from scores of a calibration."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.decision_weights import weights
from tts.domain.answer import Radius
from tts.domain.geo import Floats
from tts.domain.value import Value

LEVELS: tuple[float, ...] = (0.02, 0.05, *(round(0.1 * k, 1) for k in range(1, 9)), 0.85, 0.9, 0.95, 0.98)
_W = weights("radii")
FLOOR_KM = _W["floor_km"]


class ErrorTable(Value):
    """Error quantiles in km along a score: a row a knot, a column for each of `LEVELS`."""

    knots: tuple[float, ...]
    quantiles_km: tuple[tuple[float, ...], ...]

    def row(self, score: float) -> list[float]:
        """Quantiles in km at a score, one for each of `LEVELS`, strictly increasing."""
        at = min(max(bisect_right(self.knots, score) - 1, 0), len(self.knots) - 2)
        step = self.knots[at + 1] - self.knots[at]
        part = min(1.0, max(0.0, (score - self.knots[at]) / step)) if step > 0 else 0.0
        row, highest = [], 0.0
        for i, (low, high) in enumerate(zip(self.quantiles_km[at], self.quantiles_km[at + 1], strict=True)):
            highest = max(highest, low ** (1.0 - part) * high**part)
            row.append(highest + i * 1e-6)
        return row


class TailRule(Value):
    """The 90 % radius as a function of the tail score: exp(alpha + beta·score), at most `cap_km`."""

    alpha: float
    beta: float
    cap_km: float

    def radius_km(self, score: Floats) -> Floats:
        """90 % radii in km, one for each tail score."""
        return np.asarray(np.minimum(self.cap_km, np.exp(np.minimum(20.0, self.alpha + self.beta * score))))


@dataclass(frozen=True, slots=True)
class ErrorDistribution:
    """50 % and 90 % radii in km, and the quantiles of the error in km at `LEVELS`."""

    radius: Radius
    quantiles_km: Sequence[float]

    def probability_within(self, km: float) -> float:
        """Probability that the true place lies within `km` of the answer, in [0.01, 0.99]."""
        row = [math.log(quantile) for quantile in self.quantiles_km]
        target = math.log(max(km, FLOOR_KM))
        if target <= row[0]:
            inside = LEVELS[0] * math.exp(target - row[0])
        else:
            inside = float(np.interp(target, row, LEVELS, right=_W["most_confidence"]))
        return round(min(_W["most_confidence"], max(_W["least_confidence"], inside)), 4)
