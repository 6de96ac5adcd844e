"""Limits: how many tasks may run at once, and how many may wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from tts.aio.milestone import Milestone
from tts.errors import Overloaded


class Limiter:
    """At most `max_running` at once and `max_queued` waiting; one more is refused with `Overloaded`."""

    def __init__(self, max_running: int, max_queued: int, *, retry_after_s: float = 1.0) -> None:
        self._slots = asyncio.Semaphore(max_running)
        self._max_queued = max_queued
        self._retry_after_s = retry_after_s
        self.queued = 0
        self.running = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot during the block; waits for one. Raises Overloaded where too many wait already."""
        if self._slots.locked() and self.queued >= self._max_queued:
            raise Overloaded(
                f"the queue is full: {self.running} running and {self.queued} waiting",
                retry_after_s=self._retry_after_s,
            )
        self.queued += 1
        try:
            await self._slots.acquire()
        finally:
            self.queued -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._slots.release()


class Turnstile:
    """Lets one request through at a time. The next one follows when that one has `passed`, or after `longest_s`.

    A loop shares itself out evenly: of eight that come at once all are ready when the work of eight is done, they wait
    for the same, and come back at once again. One after the other, the first is ready after an eighth of that time, the
    work of each is done while its data are at hand, and from then on they stay apart.
    """

    def __init__(self, *, longest_s: float) -> None:
        self._lock = asyncio.Lock()
        self._max_hold_s = longest_s
        self._holder: Milestone | None = None
        self.waiting = 0

    async def enter(self, passed: Milestone) -> None:
        """Wait for those before; then be the one that others wait for until it has `passed`. Whoever is inside already
        goes on at once.
        """
        if self._holder is passed:
            return
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1
        self._holder = passed
        timer = asyncio.get_running_loop().call_later(self._max_hold_s, self._release, passed)
        passed.call_when_reached(timer.cancel)
        passed.call_when_reached(partial(self._release, passed))

    def _release(self, passed: Milestone) -> None:
        if self._holder is passed:
            self._holder = None
            self._lock.release()
