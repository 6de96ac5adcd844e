"""Single flight in one process: a caller that asks for a result which is already being fetched waits for that fetch.

If one caller is cancelled, the fetch continues for the others. If the last caller is cancelled, the fetch is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tts.aio import cancel_and_wait, spawn

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlight(Generic[T]):
    """Calls under way by key, at most one for each; `len` counts them."""

    def __init__(self) -> None:
        self._open_flights: dict[str, _Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._open_flights)

    async def join(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """Do a piece of work, or wait for one that is under way with the same key.

        Args:
            key: names the result: callers with equal keys share one piece of work.
            work: starts the work; called only if none is under way. What it raises, all callers get.

        Returns:
            (the result; whether somebody else had started the work).
        """
        flight = self._open_flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = self._open_flights[key] = _Flight(spawn(work(), name="flight"))
            flight.task.add_done_callback(lambda _: self._remove_flight(key, flight))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._remove_flight(key, flight)
                await cancel_and_wait(flight.task)

    def _remove_flight(self, key: str, flight: _Flight[T]) -> None:
        if self._open_flights.get(key) is flight:
            del self._open_flights[key]
