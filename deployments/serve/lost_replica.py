"""Detects lost replicas that send nothing: their machine was cut off, or their process was stopped.

Their connections stay open, and Ray and Serve notice the loss after half a minute at the earliest. Therefore every
stream between processes has a heartbeat (`deployments.serve.envelope`). A stream without one for `SILENT_S` means a
lost replica. A call without a stream is made again after `SILENT_S`, and the first reply counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from typing import Any, TypeVar

from deployments.seam.ray import is_assigned
from tts.aio import cancel_and_wait, spawn
from tts.errors import GivenAway, ReplicaLost

SILENT_S = 10.0
"""Five beats. A replica whose loop is blocked for so long is lost for the request, too."""
# a reader counts from when it got something, the sender from when it sent that
_SENDER_SILENCE_SHARE = 0.9
_MAX_TIMER_DELAY_S = 1.0  # so late is a timer in a process that was stopped, or had no processor
T = TypeVar("T")


async def streamed_items(response: Any, silent_s: float = SILENT_S) -> AsyncIterator[Any]:
    """The items of a streaming handle call. It is not silence while the call waits for a replica, nor while this
    process itself stood still: then nobody listened.

    Raises:
        ReplicaLost: no item came for `silent_s`.
    """
    items = aiter(response)
    try:
        yield await _first_item(response, items, silent_s)
        with closing(_SilenceLimit(silent_s)) as limit:
            while True:
                yield await limit.next_item(items)
    except StopAsyncIteration:
        return
    except TimeoutError:
        raise _silence_error(silent_s) from None


class LastSent:
    """When the sender of a stream last sent something. One that stood still for `SILENT_S`, because it was stopped or
    had no processor, has no reader any more: another replica does its work.
    """

    def __init__(self) -> None:
        self._sent_at = time.monotonic()

    def record_sent(self) -> None:
        """Something is sent now. Raises GivenAway."""
        self._sent_at = self._check_awake()

    async def may_begin(self) -> None:
        """Whether new work may begin (`GroupRequest.may_begin`). Raises GivenAway.

        What was due while the process stood still is all due at once when it goes on: a turn would begin before the
        beat of its stream has found out.
        """
        self._check_awake()

    def _check_awake(self) -> float:
        now = time.monotonic()
        if now - self._sent_at > _SENDER_SILENCE_SHARE * SILENT_S:
            raise GivenAway(
                f"this replica stood still for {now - self._sent_at:.0f} s, and its work was given to another"
            )
        return now


class _SilenceLimit:
    """Limits how long each item of one stream is waited for. One timer serves all items: it is not made anew for each,
    but looks, when it is due, whether the present wait is already so old.
    """

    def __init__(self, silent_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._silent_s = silent_s
        self._expires_at = self._loop.time() + silent_s
        self._limit: asyncio.Timeout | None = None
        self._set_timer()

    async def next_item(self, items: AsyncIterator[Any]) -> Any:
        """The next item. Raises TimeoutError after `silent_s` in which this process was at work."""
        self._expires_at = self._loop.time() + self._silent_s
        try:
            async with asyncio.timeout(None) as self._limit:
                return await anext(items)
        finally:
            self._limit = None

    def close(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def _set_timer(self) -> None:
        self._timer = self._loop.call_at(self._expires_at, self._on_timer)

    def _on_timer(self) -> None:
        now = self._loop.time()
        stood_still = now - self._timer.when() > _MAX_TIMER_DELAY_S
        if self._limit is None or stood_still:
            self._expires_at = now + self._silent_s
        elif self._expires_at <= now:
            self._limit.reschedule(now)
            return
        self._set_timer()


async def _first_item(response: Any, items: AsyncIterator[Any], silent_s: float) -> Any:
    now = asyncio.get_running_loop().time
    first = spawn(_next_item(items), name="first item")
    try:
        while True:
            assigned, due = is_assigned(response), now() + silent_s
            await asyncio.wait([first], timeout=silent_s)
            if first.done():
                return first.result()
            if assigned and now() - due <= _MAX_TIMER_DELAY_S:
                raise _silence_error(silent_s)
    finally:
        await cancel_and_wait(first)


async def _next_item(items: AsyncIterator[Any]) -> Any:
    return await anext(items)


async def first_reply(call: Callable[[], Awaitable[T]], silent_s: float | None) -> T:
    """The first reply to a call that may be made twice. What it raises is passed on.

    The call is made again when its replica is lost, and after `silent_s` without a reply (None: however long it takes).

    Raises:
        ReplicaLost: the replicas of both calls are lost.
    """
    calls = [spawn(_await_call(call), name="call")]
    try:
        await asyncio.wait(calls, timeout=silent_s)
        if not calls[0].done() or _is_lost(calls[0]):
            calls.append(spawn(_await_call(call), name="call again"))
        waiting = set(calls)
        while True:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            replied = [one for one in done if not _is_lost(one)]
            if replied or not waiting:
                return (replied or list(done))[0].result()
    finally:
        for one in calls:
            await cancel_and_wait(one)


def _is_lost(call: asyncio.Task[Any]) -> bool:
    return call.done() and not call.cancelled() and isinstance(call.exception(), ReplicaLost)


async def _await_call(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def _silence_error(silent_s: float) -> ReplicaLost:
    return ReplicaLost(f"a replica said nothing for {silent_s:g} s")
