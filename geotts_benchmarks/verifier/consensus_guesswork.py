"""The weights of guesses (`tts/verify/consensus/guesswork.py`), chosen on one set of logs and measured on another.

The shipped weights were chosen with both sets in view. This shows what such weights are worth on logs that were
not used to choose them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from geotts_benchmarks.harness import Result, print_progress
from geotts_benchmarks.verifier.consensus_logs import LogSet, minus_medoid
from tts.domain.geo import Floats
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent, hits
from tts.eval.source_reliability import consensus_errors_km
from tts.verify.consensus import guesswork
from tts.verify.evidence.world import World

GRID: Mapping[str, tuple[float, ...]] = {
    "CROWD": (0.0, 0.15, 0.35, 0.6),
    "APART": (0.0, 0.05, 0.15, 0.3),
    "ON_CENTRE": (0.0, 0.17, 0.5),
}


def guesswork_elsewhere(log_set: LogSet, other: LogSet, world: World) -> Result:
    """What weights that were chosen on `other` give here: the most accurate, and the smallest that are as good.

    `most_accurate` has the best accuracy on `other` (mean of the thresholds). `one_standard_error` has the smallest
    weights whose accuracy there is at most one standard error below it (the one-standard-error rule of Breiman et al.,
    *Classification and Regression Trees*, 1984, section 3.4.3).
    """
    settings = _settings_of_grid()
    shares = np.stack([_mean_hits(_errors_km(other, world, weights)) for weights in settings])
    chosen = {"most_accurate": int(shares.mean(axis=1).argmax()), "one_standard_error": smallest_as_good(shares)}
    return {name: _measure_weights(log_set, world, settings[at], name) for name, at in chosen.items()}


def _settings_of_grid() -> Sequence[Mapping[str, float]]:
    """All settings of `GRID`, those with small weights first: each weight counts as a share of its largest value."""
    settings = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    return sorted(settings, key=lambda weights: sum(value / (GRID[name][-1] or 1.0) for name, value in weights.items()))


def smallest_as_good(shares: Floats) -> int:
    """The first of (settings, photos) accuracies that is at most one paired standard error below the best mean.

    The settings are in the order of their weights, the smallest first.
    """
    deficits = shares[int(shares.mean(axis=1).argmax())] - shares
    errors = deficits.std(axis=1, ddof=1) / np.sqrt(deficits.shape[1])
    return int(np.flatnonzero(deficits.mean(axis=1) <= errors)[0])


def _measure_weights(log_set: LogSet, world: World, weights: Mapping[str, float], name: str) -> Result:
    errors_km = _errors_km(log_set, world, weights)
    print_progress(f"weights of guesses from another set of logs, {name}: {weights}")
    return {
        "weights": {name.lower(): value for name, value in weights.items()},
        "consensus": [round(share, 2) for share in accuracy_percent(errors_km)],
        "minus_medoid": minus_medoid(log_set, errors_km),
    }


def _mean_hits(errors_km: Floats) -> Floats:
    """(n,) the share of the thresholds that each photo is within."""
    found: Floats = np.mean([hits(errors_km, km) for km in PAPER_KM], axis=0)
    return found


def _errors_km(log_set: LogSet, world: World, weights: Mapping[str, Any]) -> Floats:
    """(n,) errors with other weights. In the product they are constants, which no function takes as arguments."""
    with patch.multiple(guesswork, **weights):
        return consensus_errors_km(log_set.named_cases(), world, None)
