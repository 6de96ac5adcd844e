"""The ranking and calibration of stated confidence, and the calibration of radii.

`confidence` is a stated probability in [0, 1], `right` whether the claim held. Abstentions carry no claim and are left
out by the caller, who reports their share beside these figures.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tts.domain.geo import Floats

Bools = npt.NDArray[np.bool_]


def expected_calibration_error(confidence: Floats, right: Bools, bins: int = 10) -> float | None:
    """Mean |stated − observed| over equally wide bins, weighted by size (Naeini et al. 2015); None for no rows."""
    if not len(confidence):
        return None
    index = np.minimum((confidence * bins).astype(int), bins - 1)
    size = np.bincount(index, minlength=bins)
    stated = np.bincount(index, weights=confidence, minlength=bins)
    observed = np.bincount(index, weights=right.astype(float), minlength=bins)
    return float(np.abs(stated - observed)[size > 0].sum() / len(confidence))


def auroc(confidence: Floats, right: Bools) -> float | None:
    """The probability that a claim that held was stated with more confidence than one that did not; of equal ones half
    count. 0.5 is chance; None where all claims held, or none did."""
    held, failed = confidence[right], confidence[~right]
    if not len(held) or not len(failed):
        return None
    more = held[:, None] - failed[None, :]
    return float((more > 0).mean() + 0.5 * (more == 0).mean())


def brier(confidence: Floats, right: Bools) -> float | None:
    """Mean squared difference between stated probability and outcome (Brier 1950); 0 is perfect, None for no rows."""
    return float(np.mean((confidence - right) ** 2)) if len(confidence) else None


def brier_skill(confidence: Floats, right: Bools, base_rate: float | None = None) -> float | None:
    """1 − Brier / Brier of always saying `base_rate` (the observed share when absent): 1 perfect, 0 no better.

    None when the reference itself is perfect, because then there is nothing to be better than.
    """
    if not len(confidence):
        return None
    rate = float(np.mean(right)) if base_rate is None else base_rate
    reference = float(np.mean((rate - right) ** 2))
    score = brier(confidence, right)
    return None if reference == 0.0 or score is None else 1.0 - score / reference


def cover_percent(errors_km: Floats, radii_km: Floats, slack_km: Floats | None = None) -> float | None:
    """Share of answers whose stated radius holds the truth (error ≤ radius + slack). Rows without either are left out.

    A 90 % radius is honest when this is 90; read it beside the median radius, since a huge circle always covers.
    """
    stated = ~np.isnan(errors_km) & ~np.isnan(radii_km)
    if not stated.any():
        return None
    slack = 0.0 if slack_km is None else slack_km[stated]
    return 100.0 * float(np.mean(errors_km[stated] <= radii_km[stated] + slack))
