"""Mixed traffic at a steady rate: answers, cancellations, streams that are cut and resumed, errors."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from geotts_client.client import Client
from geotts_client.errors import GeoTTSError, NotFound, RequestError
from geotts_client.events import Accepted, Answered
from geotts_client.options import LocateOptions
from tts.aio import cancel_and_wait, spawn

_SHARE_BY_KIND = {"read": 0.70, "cancelled": 0.10, "resumed": 0.10, "erased": 0.05, "refused": 0.05}
_DEADLINE_S = 60.0


@dataclass(slots=True)
class Traffic:
    """Requests to one service. `done` counts what ended as it should, by kind; `failures` what did not."""

    url: str
    photos: Sequence[bytes]
    parallel: int
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    async def measure_rate(self, clients: int, seconds: float) -> float:
        """Answers a second that so many clients get who ask again at once."""
        before, end = self.done["read"], time.monotonic() + seconds

        async def ask() -> None:
            async with Client(self.url) as client:
                while time.monotonic() < end:
                    await self._send_one(client, "read")

        await asyncio.gather(*(ask() for _ in range(clients)))
        return (self.done["read"] - before) / seconds

    @asynccontextmanager
    async def steady(self, per_s: float) -> AsyncIterator[None]:
        """So many requests a second, at random moments, until the block ends; those under way are then ended."""
        under_way: set[asyncio.Task[None]] = set()
        async with Client(self.url) as client:
            sending = spawn(self._send(client, per_s, under_way), name="steady traffic")
            try:
                yield
            finally:
                await cancel_and_wait(sending)
                await asyncio.gather(*under_way)

    async def _send(self, client: Client, per_s: float, under_way: set[asyncio.Task[None]]) -> None:
        kinds, weights = list(_SHARE_BY_KIND), list(_SHARE_BY_KIND.values())
        while True:
            await asyncio.sleep(self.rng.expovariate(per_s))
            task = spawn(self._send_one(client, self.rng.choices(kinds, weights)[0]), name="request")
            under_way.add(task)
            task.add_done_callback(under_way.discard)

    async def _send_one(self, client: Client, kind: str) -> None:
        options = LocateOptions(n_parallel=self.parallel, deadline_s=_DEADLINE_S, seed=self.rng.randrange(2**31))
        photo = self.rng.choice(self.photos)
        try:
            async with asyncio.timeout(_DEADLINE_S + 30):
                problem = await _ACTIONS[kind](client, photo, options)
        except TimeoutError:
            problem = "no end"
        except GeoTTSError as error:
            problem = f"{error.code}: {error.detail}"
        if problem:
            self.failures[f"{kind}: {problem}"[:200]] += 1
        else:
            self.done[kind] += 1


async def _read(client: Client, photo: bytes, options: LocateOptions) -> str:
    run = await client.locate(photo, options)
    return "" if run.answer is not None else "no answer"


async def _cancel(client: Client, photo: bytes, options: LocateOptions) -> str:
    """Leave after the request was accepted; that cancels it."""
    async with aclosing(client.stream(photo, options)) as events:
        async for event in events:
            if isinstance(event, Accepted):
                return ""
    return "never accepted"


async def _resume(client: Client, photo: bytes, options: LocateOptions) -> str:
    """Read half of a stream, leave the connection, and read on from there."""
    request_id, last = await client.submit(photo, options), 0
    async with aclosing(client.events(request_id)) as events:
        async for event in events:
            last = event.seq
            if last >= 2:
                break
    async with aclosing(client.events(request_id, after=last)) as events:
        rest = [event async for event in events]
    if [event.seq for event in rest] != list(range(last + 1, last + 1 + len(rest))):
        return "events are missing or came twice"
    return "" if any(isinstance(event, Answered) for event in rest) else "no answer"


async def _erase(client: Client, photo: bytes, options: LocateOptions) -> str:
    request_id = await client.submit(photo, options)
    await client.status(request_id, wait_s=30)
    await client.cancel(request_id, erase=True)
    try:
        await client.status(request_id)
    except NotFound:
        return ""
    return "still there after it was erased"


async def _refuse(client: Client, photo: bytes, options: LocateOptions) -> str:
    """Half of a file is no photo."""
    try:
        await client.locate(photo[: len(photo) // 20], options)
    except RequestError:
        return ""
    return "half a photo was taken"


_ACTIONS = {"read": _read, "cancelled": _cancel, "resumed": _resume, "erased": _erase, "refused": _refuse}
