"""Deadlines: the remaining time until a moment."""

from __future__ import annotations

import asyncio


class Deadline:
    """A point on this process's monotonic clock, made from remaining seconds."""

    def __init__(self, remaining_s: float) -> None:
        self.at = asyncio.get_running_loop().time() + remaining_s

    def remaining_s(self) -> float:
        """Seconds left; 0 when it has passed."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    @property
    def has_passed(self) -> bool:
        """Whether no time is left."""
        return self.remaining_s() <= 0.0

    def timeout(self, *, at_most_s: float | None = None) -> asyncio.Timeout:
        """A timeout for a block: this deadline, or `at_most_s` from now if that is sooner."""
        limit = self.at
        if at_most_s is not None:
            limit = min(limit, asyncio.get_running_loop().time() + at_most_s)
        return asyncio.timeout_at(limit)
