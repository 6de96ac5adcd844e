"""Decides when an acceptance run starts no further photo: its time or money is spent, or the engine does not work."""

from __future__ import annotations

import time
from collections.abc import Callable

from tts.eval.acceptance.faults import has_reply_or_overflow
from tts.eval.runs.record import Record

_MAX_FAILED_PHOTOS = 3


class Allowance:
    """Counts records as they come. `clock` gives seconds."""

    def __init__(
        self, seconds: float, max_cost_usd: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._end_at = clock() + seconds
        self._max_cost_usd = max_cost_usd
        self._spent_usd = 0.0
        self._n_failed = 0
        self._has_reply = False

    def count(self, record: Record) -> None:
        """Take one more located photo into account."""
        run = record.run
        if record.answer is not None:
            self._spent_usd += record.answer.usage.cost_usd
        elif run is not None:
            self._spent_usd += sum(rollout.usage.cost_usd for rollout in run.trajectories)
        self._has_reply = self._has_reply or (run is not None and has_reply_or_overflow(run))
        self._n_failed += not self._has_reply

    @property
    def has_no_replies(self) -> bool:
        """Whether the engine said nothing in any of the first photos: it cannot be reached, or refuses everything."""
        return not self._has_reply and self._n_failed >= _MAX_FAILED_PHOTOS

    @property
    def spent_limit(self) -> str:
        """`time`, `money`, or empty while there is some of both."""
        if self._clock() >= self._end_at:
            return "time"
        return "money" if self._max_cost_usd is not None and self._spent_usd >= self._max_cost_usd else ""

    def may_continue(self) -> bool:
        """Whether to begin another photo."""
        return not self.has_no_replies and not self.spent_limit
