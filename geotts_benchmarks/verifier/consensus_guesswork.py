"""The weights of guesses (`tts/verify/consensus/guesswork.py`), chosen on one family of logs and measured on another.

The shipped weights were chosen with both families in view. This shows what such weights are worth on logs that were
not used to choose them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any
from unittest.mock import patch

from geotts_benchmarks.harness import Result, print_progress
from geotts_benchmarks.verifier.consensus_logs import LogFamily, minus_medoid
from tts.domain.geo import Floats
from tts.eval.metrics.accuracy import accuracy_percent
from tts.eval.source_reliability import consensus_errors_km
from tts.verify.consensus import guesswork
from tts.verify.evidence.world import World

GRID: Mapping[str, tuple[float, ...]] = {
    "CROWD": (0.0, 0.15, 0.35, 0.6),
    "APART": (0.0, 0.05, 0.15, 0.3),
    "ON_CENTRE": (0.0, 0.17, 0.5),
}


def guesswork_elsewhere(family: LogFamily, other: LogFamily, world: World) -> Result:
    """The weights of `GRID` with the best accuracy on `other` (mean of the thresholds), and what they give here."""
    settings = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    best = max(settings, key=lambda weights: sum(accuracy_percent(_errors_km(other, world, weights))))
    errors_km = _errors_km(family, world, best)
    print_progress(f"weights of guesses from another family: {best}")
    return {
        "weights": {name.lower(): value for name, value in best.items()},
        "consensus": [round(share, 2) for share in accuracy_percent(errors_km)],
        "minus_medoid": minus_medoid(family, errors_km),
    }


def _errors_km(family: LogFamily, world: World, weights: Mapping[str, Any]) -> Floats:
    """(n,) errors with other weights. In the product they are constants, which no function takes as arguments."""
    with patch.multiple(guesswork, **weights):
        return consensus_errors_km(family.named_cases(), world, None)
