"""Fair slots: if a provider is busy, requests take turns, independent of the number of their waiting calls."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tts.errors import ToolError, ToolErrorKind


class FairLimiter:
    """Lets a limited number of calls run at once. Waiting queries get a slot in turn; within one, first come first
    served.

    Args:
        max_running: calls that may run at once, 1 or more.
        max_queued: calls that may wait beside them; a further one is refused.
    """

    def __init__(self, max_running: int, max_queued: int) -> None:
        self._max_running = max_running
        self._max_queued = max_queued
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.running = 0
        self.queued = 0

    @asynccontextmanager
    async def slot(self, query: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it inside the `async with`.

        Args:
            query: the id of the request that calls. All calls of one id share its turns.

        Raises:
            ToolError: UNAVAILABLE, if the queue is full.
        """
        await self._acquire(query)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, query: str) -> None:
        if self.running < self._max_running and not self._waiting:
            self.running += 1
            return
        if self.queued >= self._max_queued:
            raise ToolError("too many calls are waiting for this service", kind=ToolErrorKind.UNAVAILABLE)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(query, deque()).append(turn)
        self.queued += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # the slot came together with the cancellation: hand it on
            else:
                self._remove(query, turn)
            raise

    def _release(self) -> None:
        self.running -= 1
        while self._waiting and self.running < self._max_running:
            query, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            self.queued -= 1
            if turns:
                self._waiting.move_to_end(query)
            else:
                del self._waiting[query]
            if not turn.done():
                self.running += 1
                turn.set_result(None)

    def _remove(self, query: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(query)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        self.queued -= 1
        if not turns:
            del self._waiting[query]
