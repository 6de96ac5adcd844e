"""A merge of streams that accepts further streams while it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

from tts.aio.streams import closing
from tts.aio.tasks import spawn

T = TypeVar("T")


class GrowingMerge(Generic[T]):
    """A merge of streams. Streams can be added while it runs; the reader can wait until a given time.

    Leaving the block closes every source and waits for it. The first failure of a source is raised to the reader.
    """

    def __init__(self, maxsize: int = 256) -> None:
        self._items: deque[T] = deque()
        self._maxsize = maxsize
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._changed = asyncio.Event()
        self._is_due = False  # the reader has waited as long as it wanted to
        self._writable = asyncio.Event()

    async def __aenter__(self) -> GrowingMerge[T]:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def add(self, source: AsyncIterator[T]) -> None:
        """Read a further source from now on, in a task of its own."""
        task = spawn(self._drain(source), name="merge source")
        self._tasks.add(task)
        task.add_done_callback(self._remove_ended)

    async def take(self, *, until: float | None = None) -> list[T] | None:
        """The items that have arrived; waits for one. [] when every source has ended, None at the loop time `until`."""
        self._is_due = False
        timer = None if until is None else asyncio.get_running_loop().call_at(until, self._end_wait)
        try:
            while not self._items:
                if self._error is not None:
                    raise self._error
                if not self._tasks:
                    return []
                if self._is_due:
                    return None
                self._changed.clear()
                await self._changed.wait()
        finally:
            if timer is not None:
                timer.cancel()
        taken = list(self._items)
        self._items.clear()
        self._writable.set()
        return taken

    def _end_wait(self) -> None:
        self._is_due = True
        self._changed.set()

    async def close(self) -> None:
        """Close every source; what was not taken is dropped."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._items.clear()

    async def _drain(self, source: AsyncIterator[T]) -> None:
        async with closing(source):
            async for item in source:
                while len(self._items) >= self._maxsize:
                    self._writable.clear()
                    await self._writable.wait()
                self._items.append(item)
                self._changed.set()

    def _remove_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
        self._changed.set()
