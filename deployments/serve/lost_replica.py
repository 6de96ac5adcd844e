"""Detects lost replicas that send nothing: their machine was cut off, or their process was stopped.

Their connections stay open, and Ray and Serve notice the loss after half a minute at the earliest. Therefore every
stream between processes has a heartbeat (`deployments.serve.envelope`). A stream without one for `SILENT_S` means a
lost replica. A call without a stream is made again after `SILENT_S`, and the first reply counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from deployments.seam.ray import is_assigned
from tts.aio import cancel_and_wait, spawn
from tts.errors import ReplicaLost

SILENT_S = 10.0
"""Five beats. A replica whose loop is blocked for so long is lost for the request, too."""
T = TypeVar("T")


async def streamed_items(response: Any, silent_s: float = SILENT_S) -> AsyncIterator[Any]:
    """The items of a streaming handle call. The time in which the call waits for a replica is not silence.

    Raises:
        ReplicaLost: no item came for `silent_s`.
    """
    items = aiter(response)
    try:
        yield await _first(response, items, silent_s)
        while True:
            async with asyncio.timeout(silent_s):
                item = await anext(items)
            yield item
    except StopAsyncIteration:
        return
    except TimeoutError:
        raise _silent(silent_s) from None


def raise_if_counted_as_lost(waited_s: float) -> None:
    """For a stream whose beat comes after `waited_s`: its reader has given it up, and another replica does the work.

    Raises:
        ReplicaLost: this process stood still for `SILENT_S`, as one does that was stopped or had no processor.
    """
    if waited_s > SILENT_S:
        raise ReplicaLost(f"this replica stood still for {waited_s:.0f} s, and its work was given to another")


async def _first(response: Any, items: AsyncIterator[Any], silent_s: float) -> Any:
    first = spawn(_next(items), name="first item")
    try:
        while True:
            assigned = is_assigned(response)
            await asyncio.wait([first], timeout=silent_s)
            if first.done():
                return first.result()
            if assigned:
                raise _silent(silent_s)
    finally:
        await cancel_and_wait(first)


async def _next(items: AsyncIterator[Any]) -> Any:
    return await anext(items)


async def first_reply(call: Callable[[], Awaitable[T]], silent_s: float = SILENT_S) -> T:
    """The reply to a call; after `silent_s` without one, of the first to reply of two. What it raises is passed on."""
    calls = [spawn(_made(call), name="call")]
    try:
        await asyncio.wait(calls, timeout=silent_s)
        if not calls[0].done():
            calls.append(spawn(_made(call), name="call again"))
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for one in calls:
            await cancel_and_wait(one)


async def _made(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def _silent(silent_s: float) -> ReplicaLost:
    return ReplicaLost(f"a replica said nothing for {silent_s:g} s")
