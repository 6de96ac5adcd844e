"""The uncertainty of figures: bootstrap intervals, and paired tests for two systems on the same samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tts.domain.geo import Floats
from tts.domain.value import Value

_CHUNK_CELLS = 4_000_000
_Z95 = 1.959963984540054
_LEVEL = 0.95
_RESAMPLES = 2000


class Interval(Value):
    """A figure with the bounds that hold it with probability `level`."""

    value: float
    low: float
    high: float
    level: float = Field(default=_LEVEL, gt=0, lt=1)

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def bootstrap_mean(values: Floats, *, seed: int = 0) -> Interval:
    """Percentile bootstrap of a mean (Efron 1979). The same seed gives the same interval; NaN for no rows."""
    return _bootstrap(values, lambda rows: rows.mean(axis=-1), seed)


def bootstrap_median(values: Floats) -> Interval:
    """Percentile bootstrap of a median, as that of a mean."""
    return _bootstrap(values, lambda rows: np.asarray(np.median(rows, axis=-1)))


def share_interval(right: npt.NDArray[np.bool_] | Floats) -> Interval:
    """Wilson 95 % interval of a share, in percent (Wilson 1927): unlike the bootstrap it is honest at 0 and 100 %.

    Also of a mean of values from 0 to 1, which varies at most as much: the interval is then rather too wide.
    """
    n = len(right)
    if not n:
        return Interval(value=math.nan, low=math.nan, high=math.nan)
    share, z2 = float(np.mean(right)), _Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(value=100 * share, low=100 * min(low, share), high=100 * max(high, share))


def bootstrap_ratio(parts: Floats, wholes: Floats) -> Interval:
    """Percentile bootstrap of sum(parts) / sum(wholes), pairs drawn together. Needs wholes above 0 in total."""
    drawn = _draw_rows(len(wholes))
    sums = wholes[drawn].sum(axis=1)
    ratios = parts[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    return _interval(float(parts.sum() / wholes.sum()), ratios)


def paired_ratio_difference(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> Interval:
    """sum(parts) / sum(wholes) of b minus that of a, with a paired bootstrap interval: samples are drawn once for both.

    `a` and `b` are (parts, wholes), all of one length. Needs wholes above 0 in total.
    """
    drawn = _draw_rows(len(a[0]))
    sums = [(parts[drawn].sum(axis=1), wholes[drawn].sum(axis=1)) for parts, wholes in (a, b)]
    known = (sums[0][1] > 0) & (sums[1][1] > 0)
    first, second = (parts[known] / wholes[known] for parts, wholes in sums)
    value = float(b[0].sum() / b[1].sum() - a[0].sum() / a[1].sum())
    return _interval(value, second - first)


def paired_difference(a: Floats, b: Floats) -> Interval:
    """Mean of b − a with a paired bootstrap interval: samples are drawn once for both systems."""
    return bootstrap_mean(b - a)


def mcnemar_p(a_right: npt.NDArray[np.bool_], b_right: npt.NDArray[np.bool_]) -> float:
    """Two-sided exact McNemar test (McNemar 1947) that two systems hit equally often; 1 when they never differ."""
    only_a = int(np.sum(a_right & ~b_right))
    only_b = int(np.sum(b_right & ~a_right))
    n, k = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    tail = sum(math.exp(_log_choose(n, i) - n * math.log(2)) for i in range(k + 1))
    return min(1.0, 2.0 * tail)


def sign_flip_p(a: Floats, b: Floats, *, flips: int = 10_000, seed: int = 0) -> float:
    """Two-sided paired permutation test of mean(b − a) = 0 with random sign flips; never exactly 0."""
    difference = b - a
    if not len(difference) or not difference.any():
        return 1.0
    observed = abs(float(difference.mean()))
    rng = np.random.default_rng(seed)
    extreme, step = 0, max(1, _CHUNK_CELLS // len(difference))
    for start in range(0, flips, step):
        signs = rng.integers(0, 2, (min(step, flips - start), len(difference)), dtype=np.int8) * 2 - 1
        extreme += int(np.sum(np.abs(signs @ difference) / len(difference) >= observed - 1e-12))
    return (extreme + 1) / (flips + 1)


def _bootstrap(values: Floats, statistic: Callable[[Floats], Floats], seed: int = 0) -> Interval:
    if not len(values):
        return Interval(value=math.nan, low=math.nan, high=math.nan)
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK_CELLS // len(values))
    parts = []
    for start in range(0, _RESAMPLES, step):
        drawn = rng.integers(0, len(values), (min(step, _RESAMPLES - start), len(values)))
        parts.append(statistic(values[drawn]))
    return _interval(float(statistic(values)), np.concatenate(parts))


def _draw_rows(count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, count, (_RESAMPLES, count))


def _interval(value: float, resampled: Floats) -> Interval:
    low, high = np.quantile(resampled, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(value=value, low=float(low), high=float(high))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
