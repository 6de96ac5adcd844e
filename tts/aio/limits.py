"""Limits: how many tasks may run at once, and how many may wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
            raise Overloaded(f"{self.running} running and {self.queued} waiting", retry_after_s=self._retry_after_s)
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
    """Lets one task through at a time, and waits some turns of the event loop before it lets the next one through.

    A loop shares itself out evenly: of eight that come at once all are ready when the work of eight is done, they wait
    for the same, and come back at once again. One after the other, the first is ready after an eighth of that time, the
    work of each is done while its data are at hand, and from then on they stay apart.
    """

    def __init__(self, *, head_start: int) -> None:
        self._lock = asyncio.Lock()
        self._head_start = head_start
        self.waiting = 0

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1

    async def __aexit__(self, *exc: object) -> None:
        self._open_after(self._head_start, asyncio.get_running_loop())

    def _open_after(self, turns: int, loop: asyncio.AbstractEventLoop) -> None:
        if turns <= 0:
            self._lock.release()
        else:
            loop.call_soon(self._open_after, turns - 1, loop)
