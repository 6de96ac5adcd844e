"""A point that some work reaches once, for others who wait until it is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


class Milestone:
    """Reached once, and reached from then on."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._callbacks: list[Callable[[], object]] = []

    def reach(self) -> None:
        """Call what waits for it, in the order in which it came; nothing when it was reached before."""
        if not self._reached.is_set():
            self._reached.set()
            for callback in self._callbacks:
                callback()
            self._callbacks.clear()

    def call_when_reached(self, callback: Callable[[], object]) -> None:
        """Call `callback` when it is reached; at once if it is."""
        if self._reached.is_set():
            callback()
        else:
            self._callbacks.append(callback)

    async def wait(self, *, at_most_s: float) -> None:
        """Wait until it is reached, or `at_most_s` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await self._reached.wait()
