"""Figures of several rollouts for one sample: pass@K, best@N, verifier@N.

Rollout errors are an (n samples, N rollouts) array in km; NaN where a rollout gave no point.
"""

from __future__ import annotations

import numpy as np

from tts.domain.geo import Floats
from tts.eval.metrics.accuracy import hits


def pass_at_k_percent(rollout_errors_km: Floats, k: int, threshold_km: float, slack_km: Floats | None = None) -> float:
    """Probability that at least one of `k` rollouts drawn without replacement hits, averaged over samples.

    The unbiased estimator 1 − C(N−c, k) / C(N, k) of Chen et al. 2021 (arXiv:2107.03374, section 2.1).

    Raises:
        ValueError: when `k` is not between 1 and N.
    """
    samples, n = rollout_errors_km.shape
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs between {k} and more rollouts a sample, there are {n}")
    if not samples:
        return 0.0
    missed = n - hits(rollout_errors_km, threshold_km, None if slack_km is None else slack_km[:, None]).sum(axis=1)
    steps = np.arange(n - k + 1, n + 1, dtype=np.float64)
    all_missed = np.prod(np.clip(1.0 - (n - missed)[:, None] / steps, 0.0, 1.0), axis=1)
    return 100.0 * float(np.mean(1.0 - all_missed))


def best_of_n_km(rollout_errors_km: Floats) -> Floats:
    """(n,) the smallest error among the rollouts of a sample: an oracle, the ceiling of any selection."""
    worst = np.where(np.isnan(rollout_errors_km), np.inf, rollout_errors_km).min(axis=1, initial=np.inf)
    return np.where(np.isinf(worst), np.nan, worst)
