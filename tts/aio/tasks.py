"""Tasks that are awaited, and cancelled together with the code that needs them. Only this file spawns tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")

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
async def run_in_background(work: Coroutine[Any, Any, T]) -> AsyncIterator[Callable[[], Awaitable[T]]]:
    """Run `work` while the block runs. The value of the block is a function that waits for it and may be called
    repeatedly. The work is cancelled when the block ends."""
    task = spawn(work, name="beside")

    async def result() -> T:
        return await asyncio.shield(task)

    try:
        yield result
    finally:
        await cancel_and_wait(task)


async def first_to_end(*works: Coroutine[Any, Any, None]) -> None:
    """Run all until one ends; cancel the others. What the one raises is passed on."""
    tasks = [spawn(work, name="first to end") for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            await cancel_and_wait(task)


async def cancel_and_wait(task: asyncio.Task[Any]) -> None:
    """Cancel `task` and wait for it; its own outcome is dropped, ours (a cancellation) is not."""
    task.cancel()
    if not task.done():
        await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.debug("cancelled task %s ended with %r", task.get_name(), error)


async def run_to_end(work: Coroutine[Any, Any, T], *, name: str) -> T:
    """Run `work` to its end, even if the caller is cancelled. The cancellation is raised after the work has ended."""
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
