"""Streams whose producers end with them.

A generator must not yield inside a task group or a timeout (PEP 789): the body of a stream therefore runs as a producer
task that fills a bounded `Channel`, and the generator only drains it. Closing the generator cancels the producer and
waits for it, so nothing is left running. Cancellation is never swallowed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Any, Generic, TypeVar, cast

from tts.aio.tasks import cancel_and_wait, spawn

T = TypeVar("T")
Send = Callable[[T], Awaitable[None]]


class Channel(Generic[T]):
    """A bounded, closable queue for one consumer. `send` waits while it is full."""

    def __init__(self, maxsize: int = 256) -> None:
        self._items: deque[T] = deque()
        self._maxsize = maxsize
        self._closed = False
        self._error: BaseException | None = None
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    async def send(self, item: T) -> None:
        """Put an item at the end; waits while the channel is full."""
        while len(self._items) >= self._maxsize:
            self._writable.clear()
            await self._writable.wait()
        self._items.append(item)
        self._readable.set()

    def close(self, error: BaseException | None = None) -> None:
        """End the stream. What was sent can still be taken; after it `wait` returns False, or raises `error`."""
        self._closed = True
        self._error = error
        self._readable.set()

    async def wait(self) -> bool:
        """True when there is something to take; False at the end. Raises what the producer raised."""
        while not self._items:
            if self._closed:
                if self._error is not None:
                    raise self._error
                return False
            self._readable.clear()
            await self._readable.wait()
        return True

    def take_all(self) -> list[T]:
        """All items at hand, oldest first; it does not wait, so the list may be empty."""
        taken = list(self._items)
        self._items.clear()
        self._writable.set()
        return taken

    def take(self) -> T:
        """The oldest item; it does not wait, and raises IndexError when there is none."""
        item = self._items.popleft()
        self._writable.set()
        return item


@asynccontextmanager
async def _running_producer(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]], maxsize: int
) -> AsyncIterator[Channel[T]]:
    channel: Channel[T] = Channel(maxsize)

    task = spawn(produce(channel.send), name=getattr(produce, "__qualname__", "producer"))
    task.add_done_callback(lambda ended: channel.close(_ending_error(ended)))
    try:
        yield channel
    finally:
        await cancel_and_wait(task)


def _ending_error(ended: asyncio.Task[None]) -> BaseException | None:
    """The exception that ended a producer early. A producer that was cancelled from inside has not ended normally."""
    return asyncio.CancelledError() if ended.cancelled() else ended.exception()


async def stream(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]], *, maxsize: int = 256
) -> AsyncGenerator[T, None]:
    """Iterate over what `produce(send)` sends. Its exception is raised here after what it sent before."""
    async with _running_producer(produce, maxsize) as channel:
        while await channel.wait():
            yield channel.take()


def merge(sources: Iterable[AsyncIterator[T]], *, maxsize: int = 256) -> AsyncGenerator[T, None]:
    """Items of several iterators as they come. The first failure ends all and is raised."""
    pending = list(sources)

    async def produce(send: Send[T]) -> None:
        await run_all(_drain(source, send) for source in pending)

    return stream(produce, maxsize=maxsize)


async def run_all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all coroutines concurrently. The first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _drain(source: AsyncIterator[T], send: Send[T]) -> None:
    async with closing(source):
        async for item in source:
            await send(item)


def coalesce(
    source: AsyncIterator[T], *, window_s: float, maxsize: int = 1024, urgent: Callable[[T], bool] | None = None
) -> AsyncGenerator[list[T], None]:
    """Items of an iterator in batches (see `batches`); closed when they are."""
    return batches(lambda send: _drain(source, send), window_s=window_s, maxsize=maxsize, urgent=urgent)


async def batches(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]],
    *,
    window_s: float,
    maxsize: int = 1024,
    urgent: Callable[[T], bool] | None = None,
    patient: bool = False,
) -> AsyncGenerator[list[T], None]:
    """What `produce(send)` sends, in batches. The first, the last and urgent items come at once, the others every
    `window_s`.

    Args:
        produce: cancelled when the batches are closed; its exception is raised after what it sent before.
        window_s: seconds from one batch to the next, unless something in it is urgent.
        maxsize: items in a batch at most; the producer waits while so many have not been taken.
        urgent: whether an item, with all before it, is to go at once.
        patient: items wait for others, `window_s` from the first of them; the very first ones do, too.
    """
    at_once = asyncio.Event()

    async def produce_with_notice(send: Send[T]) -> None:
        async def notice(item: T) -> None:
            await send(item)
            if urgent is not None and urgent(item):
                at_once.set()

        try:
            await produce(send if urgent is None else notice)
        finally:
            at_once.set()

    loop = asyncio.get_running_loop()
    next_flush = loop.time()
    async with _running_producer(produce_with_notice, maxsize) as channel:
        while await channel.wait():
            if (pause := window_s if patient else next_flush - loop.time()) > 0 and not at_once.is_set():
                timer = loop.call_later(pause, at_once.set)
                try:
                    await at_once.wait()
                finally:
                    timer.cancel()
            at_once.clear()
            yield channel.take_all()
            next_flush = loop.time() + window_s


def closing(source: AsyncIterator[T]) -> AbstractAsyncContextManager[AsyncIterator[T]]:
    """`aclosing` that also takes iterators without `aclose`."""
    if hasattr(source, "aclose"):
        return cast(AbstractAsyncContextManager[AsyncIterator[T]], aclosing(source))
    return nullcontext(source)
