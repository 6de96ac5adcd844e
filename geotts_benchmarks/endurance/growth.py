"""How much something has grown over a time, with an interval: a robust line through samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_N_DRAWS = 400
_N_BLOCKS = 10  # samples that follow each other are alike, so whole stretches of them are drawn
_TAIL_PERCENT = 2.5


@dataclass(frozen=True, slots=True)
class Growth:
    """Per cent of the value at the beginning, and the 95 % interval."""

    percent: float
    low: float
    high: float

    def row(self) -> dict[str, float]:
        """For a report."""
        return {"growth_percent": self.percent, "low": self.low, "high": self.high}


def growth(at_s: Sequence[float], values: Sequence[float], *, seed: int = 0) -> Growth:
    """From the first to the last sample, by the median of the slopes between all pairs (Theil and Sen).

    The interval is a bootstrap of the residuals in blocks. With fewer than three samples, or a line that begins at 0
    or below, there is no growth to speak of: all zero.
    """
    x, y = np.asarray(at_s, dtype=float), np.asarray(values, dtype=float)
    if len(x) < 3:
        return Growth(0.0, 0.0, 0.0)
    slope = _slope(x, y)
    start = float(np.median(y - slope * (x - x[0])))
    if start <= 0:
        return Growth(0.0, 0.0, 0.0)
    line = start + slope * (x - x[0])
    rng = np.random.default_rng(seed)
    slopes = [_slope(x, line + _redraw_blocks(y - line, rng)) for _ in range(_N_DRAWS)]
    to_percent = 100.0 * float(x[-1] - x[0]) / start
    low, high = np.percentile(slopes, [_TAIL_PERCENT, 100 - _TAIL_PERCENT])
    return Growth(round(slope * to_percent, 2), round(float(low) * to_percent, 2), round(float(high) * to_percent, 2))


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    left, right = np.triu_indices(len(x), 1)
    return float(np.median((y[right] - y[left]) / (x[right] - x[left])))


def _redraw_blocks(residuals: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    size = max(1, len(residuals) // _N_BLOCKS)
    starts = rng.integers(0, len(residuals) - size + 1, -(-len(residuals) // size))
    return np.concatenate([residuals[i : i + size] for i in starts])[: len(residuals)]
