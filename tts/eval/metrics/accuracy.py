"""The errors of answers: accuracy at thresholds, GeoScore, median and mean error.

An error is a WGS-84 geodesic in km; NaN stands for a sample without a usable answer. A hit lies *strictly* below the
threshold. Where the truth itself is only known to a radius, a hit lies below the larger of threshold and radius.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tts.domain.geo import TABLE_KM, Floats

PAPER_KM = (0.5, 2.0, 10.0, *TABLE_KM[1:])
CLASSIC_KM = (*TABLE_KM, 2500.0)
_GEOSCORE_MAX = 5000.0
_GEOSCORE_SCALE_KM = 18050.0


def hits(errors_km: Floats, threshold_km: float, slack_km: Floats | None = None) -> npt.NDArray[np.bool_]:
    """(n,) booleans: error < max(threshold, slack). NaN errors are misses."""
    limit = np.full(errors_km.shape, threshold_km) if slack_km is None else np.maximum(threshold_km, slack_km)
    with np.errstate(invalid="ignore"):
        return np.asarray(errors_km < limit)


def accuracy_percent(
    errors_km: Floats, thresholds_km: Sequence[float] = PAPER_KM, slack_km: Floats | None = None
) -> tuple[float, ...]:
    """Share of hits at each threshold in percent of *all* samples, unanswered ones included; 0 for no samples."""
    if not len(errors_km):
        return tuple(0.0 for _ in thresholds_km)
    return tuple(100.0 * float(np.mean(hits(errors_km, t, slack_km))) for t in thresholds_km)


def geoscores(errors_km: Floats) -> Floats:
    """(n,) 5000·exp(−10·d / 18050 km), the scale of the GeoGuessr game; 0 without an answer (GeoAgent, metrics)."""
    score = _GEOSCORE_MAX * np.exp(-10.0 * np.nan_to_num(errors_km) / _GEOSCORE_SCALE_KM)
    return np.where(np.isnan(errors_km), 0.0, score)


def median_km(errors_km: Floats) -> float | None:
    """Median over the answered samples; None when there are none. Read it beside the coverage."""
    answered = errors_km[~np.isnan(errors_km)]
    return float(np.median(answered)) if len(answered) else None


def mean_km(errors_km: Floats) -> float | None:
    """Mean over the answered samples; None when there are none."""
    answered = errors_km[~np.isnan(errors_km)]
    return float(np.mean(answered)) if len(answered) else None


def coverage_percent(errors_km: Floats) -> float:
    """Share of samples with a usable answer."""
    return 100.0 * float(np.mean(~np.isnan(errors_km))) if len(errors_km) else 0.0
