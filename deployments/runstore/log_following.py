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


class LogSignals:
    """Signals of new log entries, one event for each request. `notify` wakes all waiting readers. Requests without
    readers have no event."""

    def __init__(self) -> None:
        self._signals: dict[str, asyncio.Event] = {}

    def waiter(self, request_id: str) -> asyncio.Event:
        """The event to wait for. Get it before reading the log, so that no signal in between is missed."""
        return self._signals.setdefault(request_id, asyncio.Event())

    def notify(self, request_id: str) -> None:
        """Wake everyone who waits for this request."""
        signal = self._signals.pop(request_id, None)
        if signal is not None:
            signal.set()

    def notify_all(self) -> None:
        """Wake everyone, whatever request they wait for."""
        for request_id in tuple(self._signals):
            self.notify(request_id)


async def follow(
    page: Callable[[int], Awaitable[Page]],
    signals: LogSignals,
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
        signal = signals.waiter(request_id)
        found = await page(position)
        for entry in found.entries:
            yield entry
            position = entry.seq
        if found.entries:
            quiet_until = now() + idle_s if idle_s is not None else None
        if len(found.entries) >= PAGE:
            continue
        if found.final:
            signals.notify(request_id)
            return
        patience = None if quiet_until is None else max(0.0, quiet_until - now())
        if poll_s is not None:
            patience = poll_s if patience is None else min(patience, poll_s)
        try:
            async with asyncio.timeout(patience):
                await signal.wait()
        except TimeoutError:
            if quiet_until is not None and now() >= quiet_until:
                yield None
                quiet_until = now() + (idle_s or 0.0)
