"""Decides whether the rollouts of a request that still run are stopped, and why. `Ensemble` stops them.

The reasons, before the deadline: the request has used its total of tokens; the stop policy says that enough rollouts
agree (`tts.ensemble.consensus_watch`); as many as were wanted have ended; the rest are stragglers
(`tts.ensemble.stragglers`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tts.domain.answer import StopReason
from tts.domain.trajectory import Run
from tts.ensemble.stragglers import straggler_s


class StopDecision:
    """The decision for one request. Of its rollouts, `started` has the start times on the loop's clock, `took` the
    seconds of those that ended; both by rollout id.
    """

    def __init__(self, max_tokens_total: int | None, *, cuts_stragglers: bool) -> None:
        self._max_tokens_total = max_tokens_total
        self._cuts_stragglers = cuts_stragglers

    def reason_to_stop(
        self, run: Run, started: Mapping[int, float], took: Mapping[int, float], *, wanted: int, agreed: bool
    ) -> StopReason | None:
        """Why the running rollouts are not needed any more; None while they are. `agreed`: the stop policy says so.
        `wanted`: the number of rollouts without replacements of stragglers.
        """
        tokens = sum(trajectory.usage.completion_tokens for trajectory in run.trajectories)
        if self._max_tokens_total is not None and tokens >= self._max_tokens_total:
            return StopReason.BUDGET
        if agreed:
            return StopReason.QUORUM
        return StopReason.CANCELLED if len(started) > wanted and len(took) >= wanted else None

    def straggler_time(self, started: Mapping[int, float], took: Mapping[int, float]) -> float | None:
        """When those still running are stragglers, on the loop's clock; None while that is unknown or allowed."""
        open_since = [since for i, since in started.items() if i not in took]
        if not self._cuts_stragglers or not open_since:
            return None
        late_s = straggler_s([*took.values()], len(started))
        return None if late_s is None else max(open_since) + late_s
