"""Structured concurrency for streams. Tasks are spawned in this file and nowhere else.

A generator must not yield inside a task group or a timeout (PEP 789): the body of a stream therefore runs as a producer
task that fills a bounded `Channel`, and the generator only drains it. Closing the generator cancels the producer and
waits for it, so nothing is left running. Cancellation is never swallowed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager, suppress
from contextvars import Context
from typing import Any, Generic, TypeVar, cast

from tts.errors import Overloaded

T = TypeVar("T")
Send = Callable[[T], Awaitable[None]]

_log = logging.getLogger(__name__)
_background: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, T], *, name: str, context: Context | None = None) -> asyncio.Task[T]:
    """Start a task that is kept alive until it ends and whose failure is logged if nobody awaits it.

    `context`: an empty one for work that must not end with whoever started it (frameworks keep in it what they cancel).
    """
    task = asyncio.get_running_loop().create_task(work, name=name, context=context)
    _background.add(task)
    task.add_done_callback(_background.discard)
    return task


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, T]) -> AsyncIterator[Callable[[], Awaitable[T]]]:
    """Do `work` while the block runs: what is given waits for it, as often as it is called. It ends with the block."""
    task = spawn(work, name="beside")

    async def result() -> T:
        return await asyncio.shield(task)

    try:
        yield result
    finally:
        await cancel_and_wait(task)


async def cancel_and_wait(task: asyncio.Task[Any]) -> None:
    """Cancel `task` and wait for it; its own outcome is dropped, ours (a cancellation) is not."""
    task.cancel()
    if not task.done():
        await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.debug("cancelled task %s ended with %r", task.get_name(), error)


async def to_its_end(work: Coroutine[Any, Any, T], *, name: str) -> T:
    """Do `work` whatever becomes of the caller: a cancellation of it comes through when the work has ended."""
    task = spawn(work, name=name)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            await asyncio.wait([task])
        raise


@contextmanager
def heeding_cancels() -> Iterator[None]:
    """Around a library that waits with `asyncio.wait_for`: before Python 3.12 that forgets a cancellation which comes
    in the moment in which it has what it waits for. It is raised here then.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0

    def forgotten() -> bool:
        return task is not None and task.cancelling() > before

    try:
        yield
    except Exception as error:
        if forgotten():
            raise asyncio.CancelledError from error
        raise
    if forgotten():
        raise asyncio.CancelledError


class Deadline:
    """A point on this process's monotonic clock, made from remaining seconds."""

    def __init__(self, remaining_s: float) -> None:
        self.at = asyncio.get_running_loop().time() + remaining_s

    def remaining_s(self) -> float:
        return max(0.0, self.at - asyncio.get_running_loop().time())

    @property
    def passed(self) -> bool:
        return self.remaining_s() <= 0.0

    def timeout(self, *, at_most_s: float | None = None) -> asyncio.Timeout:
        """A timeout for a block: this deadline, or `at_most_s` from now if that is sooner."""
        limit = self.at
        if at_most_s is not None:
            limit = min(limit, asyncio.get_running_loop().time() + at_most_s)
        return asyncio.timeout_at(limit)


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
        while len(self._items) >= self._maxsize:
            self._writable.clear()
            await self._writable.wait()
        self._items.append(item)
        self._readable.set()

    def close(self, error: BaseException | None = None) -> None:
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
        taken = list(self._items)
        self._items.clear()
        self._writable.set()
        return taken

    def take(self) -> T:
        item = self._items.popleft()
        self._writable.set()
        return item


@asynccontextmanager
async def _producing(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]], maxsize: int
) -> AsyncIterator[Channel[T]]:
    channel: Channel[T] = Channel(maxsize)

    task = spawn(produce(channel.send), name=getattr(produce, "__qualname__", "producer"))
    task.add_done_callback(lambda ended: channel.close(_why(ended)))
    try:
        yield channel
    finally:
        await cancel_and_wait(task)


def _why(ended: asyncio.Task[None]) -> BaseException | None:
    """What ended a producer early. One that was cancelled by something inside it is no stream that came to its end."""
    return asyncio.CancelledError() if ended.cancelled() else ended.exception()


async def stream(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]], *, maxsize: int = 256
) -> AsyncGenerator[T, None]:
    """Iterate over what `produce(send)` sends. Its exception is raised here after what it sent before."""
    async with _producing(produce, maxsize) as channel:
        while await channel.wait():
            yield channel.take()


async def merge(sources: Iterable[AsyncIterator[T]], *, maxsize: int = 256) -> AsyncGenerator[T, None]:
    """Items of several iterators as they come. The first failure ends all and is raised."""
    pending = list(sources)

    async def produce(send: Send[T]) -> None:
        await together(_drain(source, send) for source in pending)

    async with aclosing(stream(produce, maxsize=maxsize)) as items:
        async for item in items:
            yield item


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all side by side; the first failure ends the others and is raised."""
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
    source: AsyncIterator[T], *, window_s: float, urgent: Callable[[T], bool] | None = None
) -> AsyncGenerator[list[T], None]:
    """Items of an iterator in batches (see `batches`); closed when they are."""
    return batches(lambda send: _drain(source, send), window_s=window_s, urgent=urgent)


async def batches(
    produce: Callable[[Send[T]], Coroutine[Any, Any, None]],
    *,
    window_s: float,
    maxsize: int = 1024,
    urgent: Callable[[T], bool] | None = None,
    patient: bool = False,
) -> AsyncGenerator[list[T], None]:
    """What `produce(send)` sends, in batches: the first, the last and urgent items at once, others every `window_s`.

    Args:
        produce: cancelled when the batches are closed; its exception is raised after what it sent before.
        window_s: seconds from one batch to the next, unless something in it is urgent.
        urgent: whether an item, with all before it, is to go at once.
        patient: items wait for others, `window_s` from the first of them; the very first ones do, too.
    """
    at_once = asyncio.Event()

    async def noticed(send: Send[T]) -> None:
        async def notice(item: T) -> None:
            await send(item)
            if urgent is not None and urgent(item):
                at_once.set()

        try:
            await produce(send if urgent is None else notice)
        finally:
            at_once.set()

    now = asyncio.get_running_loop().time
    next_flush = now()
    async with _producing(noticed, maxsize) as channel:
        while await channel.wait():
            if (pause := window_s if patient else next_flush - now()) > 0 and not at_once.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await at_once.wait()
            at_once.clear()
            yield channel.take_all()
            next_flush = now() + window_s


def closing(source: AsyncIterator[T]) -> AbstractAsyncContextManager[AsyncIterator[T]]:
    """`aclosing` that also takes iterators without `aclose`."""
    if hasattr(source, "aclose"):
        return cast(AbstractAsyncContextManager[AsyncIterator[T]], aclosing(source))
    return _no_close(source)


@asynccontextmanager
async def _no_close(source: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    yield source


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
    """One at a time, and whoever was let through has some turns of the loop before the next one is.

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


class Fleet(Generic[T]):
    """A merge whose sources may join while it runs, and a reader who may look at the clock.

    Leaving the block closes every source and waits for it. The first failure of a source is raised to the reader.
    """

    def __init__(self, maxsize: int = 256) -> None:
        self._items: deque[T] = deque()
        self._maxsize = maxsize
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()

    async def __aenter__(self) -> Fleet[T]:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def add(self, source: AsyncIterator[T]) -> None:
        task = spawn(self._drain(source), name="fleet source")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def take(self, *, until: float | None = None) -> list[T] | None:
        """What has come, waiting for it; [] when every source has ended, None when the loop's clock says `until`."""
        while not self._items:
            if self._error is not None:
                raise self._error
            if not self._tasks:
                return []
            self._changed.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
            except TimeoutError:
                return None
        taken = list(self._items)
        self._items.clear()
        self._writable.set()
        return taken

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

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
        self._changed.set()
