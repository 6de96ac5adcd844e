"""Divides the time in which the engines of a process work among their generations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final


class SharedTime:
    """While k generations run, each of them is charged 1/k of every second, so the charges add up to the seconds in
    which an engine worked, whatever overlaps. `clock` returns seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._n_running = 0
        self._s_per_generation = 0.0  # what a generation would be charged that ran since the beginning
        self._advanced_at = clock()

    def start(self) -> float:
        """Begin a generation. Returns a mark for `charged_s`."""
        self._advance()
        self._n_running += 1
        return self._s_per_generation

    def charged_s(self, mark: float) -> float:
        """Seconds that the generation begun at this mark is charged so far."""
        self._advance()
        return self._s_per_generation - mark

    def stop(self) -> None:
        """End a generation, finished or not."""
        self._advance()
        self._n_running -= 1

    def _advance(self) -> None:
        now = self._clock()
        if self._n_running:
            self._s_per_generation += (now - self._advanced_at) / self._n_running
        self._advanced_at = now


class GpuCharge:
    """The GPU seconds of one generation, which begins now, on so many GPUs."""

    def __init__(self, shared: SharedTime, gpus: float) -> None:
        self._shared_time = shared
        self._gpus = gpus
        self._start_mark = shared.start()
        self._final_gpu_s: float | None = None
        self.is_reported = False

    @property
    def gpu_s(self) -> float:
        """Up to now, or up to its end."""
        return (
            self._gpus * self._shared_time.charged_s(self._start_mark)
            if self._final_gpu_s is None
            else self._final_gpu_s
        )

    def end(self) -> None:
        """It costs nothing from now on; the second time nothing happens."""
        if self._final_gpu_s is None:
            self._final_gpu_s = self.gpu_s
            self._shared_time.stop()

    def report(self) -> float:
        """End it. Returns its seconds, for its usage."""
        self.end()
        self.is_reported = True
        return self.gpu_s


GPU_TIME: Final = SharedTime()
"""The one of this process. Its engines (a planner and its observer, the engines of a mixture) share its GPUs."""
