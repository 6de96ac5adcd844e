"""Follows a log of any store: read a page, yield it, wait for a signal, read on.

A signal may be lost while the connection is down, so a follower also reads the log every `poll_s`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from deployments.runstore.port import LogEntry

PAGE = 256


@dataclass(frozen=True, slots=True)
class Page:
    """Entries above a position, at most `PAGE`. `final`: the log is closed or gone, nothing will follow these."""

    entries: Sequence[LogEntry]
    final: bool


class Bells:
    """Signals of new log entries, one event for each request. `ring` wakes all waiting readers. Requests without
    readers have no event."""

    def __init__(self) -> None:
        self._bells: dict[str, asyncio.Event] = {}

    def hear(self, request_id: str) -> asyncio.Event:
        """Take it before looking, wait for it after: what is rung in between is not missed."""
        return self._bells.setdefault(request_id, asyncio.Event())

    def ring(self, request_id: str) -> None:
        """Wake everyone who waits for this request."""
        bell = self._bells.pop(request_id, None)
        if bell is not None:
            bell.set()

    def ring_all(self) -> None:
        """Wake everyone, whatever request they wait for."""
        for request_id in tuple(self._bells):
            self.ring(request_id)


async def follow(
    page: Callable[[int], Awaitable[Page]],
    bells: Bells,
    request_id: str,
    *,
    after: int,
    idle_s: float | None,
    poll_s: float | None = None,
) -> AsyncIterator[LogEntry | None]:
    """Entries above `after` until the log is final; None after each `idle_s` without one."""
    position = after
    now = asyncio.get_running_loop().time
    quiet_until = now() + idle_s if idle_s is not None else None
    while True:
        bell = bells.hear(request_id)
        found = await page(position)
        for entry in found.entries:
            yield entry
            position = entry.seq
        if found.entries:
            quiet_until = now() + idle_s if idle_s is not None else None
        if len(found.entries) >= PAGE:
            continue
        if found.final:
            bells.ring(request_id)
            return
        patience = None if quiet_until is None else max(0.0, quiet_until - now())
        if poll_s is not None:
            patience = poll_s if patience is None else min(patience, poll_s)
        try:
            async with asyncio.timeout(patience):
                await bell.wait()
        except TimeoutError:
            if quiet_until is not None and now() >= quiet_until:
                yield None
                quiet_until = now() + (idle_s or 0.0)
