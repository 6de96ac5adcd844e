"""How long to wait for the last rollouts: a deadline learned from those that ended.

Rollouts of one photo take similar times. Once most have ended, one that takes several times as long as the typical one
is stuck in a loop, a queue or a slow tool, and waiting for it costs the caller more than its vote is worth.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tts.decision_weights import weights

_W = weights("watch")
_MEDIAN_FACTOR = _W["straggler_factor"]
_LONGEST_FACTOR = _W["straggler_longest"]
_MIN_TIME_S = _W["straggler_floor_s"]
_ENDED_SHARE = _W["straggler_ended_share"]


def straggler_s(took_s: Sequence[float], n: int) -> float | None:
    """Seconds after the start at which those still running are stragglers; None while too few of `n` have ended."""
    if len(took_s) < 2 or len(took_s) < _ENDED_SHARE * n or len(took_s) >= n:
        return None
    return max(_MIN_TIME_S, _MEDIAN_FACTOR * statistics.median(took_s), _LONGEST_FACTOR * max(took_s))
