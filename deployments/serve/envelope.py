"""The unit of streams between processes: a batch of items, and the egress of the sending process since the last one.

The transports of engines and tools record the egress (`tts.net.egress`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from deployments.serve.lost_replica import LastSent
from tts.aio import Send, closing, first_to_end, stream
from tts.errors import GeoTTSError, ReplicaLost
from tts.net.egress import EGRESS, Departure

BEAT_S = 2.0
"""After so long without news an envelope says that the process still works (`deployments.serve.lost_replica`)."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Envelope(Generic[T]):
    """`items` is empty if the envelope only reports egress, or is a heartbeat."""

    items: Sequence[T]
    egress: tuple[Departure, ...] = ()


async def seal(
    batches: AsyncIterator[Sequence[T]], request_id: str, last_sent: LastSent | None = None
) -> AsyncIterator[Envelope[T]]:
    """Batches in envelopes. What leaves is reported at once, in an envelope of its own where no batch is ready: it is
    known also when the request is cancelled in the next moment. Closing this closes the batches. `last_sent` is called
    with each.

    Raises:
        GivenAway: this process stood still for so long that its reader has given it up.
    """
    last = last_sent or LastSent()

    async def produce(send: Send[Envelope[T]]) -> None:
        sealing = _Sealing(request_id, send)
        with EGRESS.watch(request_id) as news:
            try:
                await first_to_end(sealing.forward(batches), sealing.beat(news))
            except GeoTTSError:
                await sealing.report_egress()
                raise
            await sealing.report_egress()

    async with aclosing(stream(produce, maxsize=1)) as envelopes:  # batches merge while the reader is slow
        async for envelope in envelopes:
            last.note()
            yield envelope


@dataclass(frozen=True, slots=True)
class _Sealing(Generic[T]):
    request_id: str
    send: Send[Envelope[T]]

    async def forward(self, batches: AsyncIterator[Sequence[T]]) -> None:
        async with closing(batches) as items:
            async for batch in items:
                await self.send(Envelope(batch, EGRESS.take(self.request_id)))

    async def beat(self, news: asyncio.Event) -> None:
        """Report what leaves as soon as there is any, and every `BEAT_S` without any that this process works."""
        while True:
            try:
                async with asyncio.timeout(BEAT_S):
                    await news.wait()
            except TimeoutError:
                await self.send(Envelope(()))
                continue
            news.clear()
            await self.report_egress()

    async def report_egress(self) -> None:
        if egress := EGRESS.take(self.request_id):
            await self.send(Envelope((), egress))


async def unseal(envelopes: AsyncIterator[Envelope[T]], request_id: str) -> AsyncIterator[Sequence[T]]:
    """The batches. The egress of the other process is recorded in this process, which passes it on. If the other
    process is lost, this process records that there may have been more.
    """
    try:
        async with closing(envelopes) as stream_of_envelopes:
            async for envelope in stream_of_envelopes:
                for departure in envelope.egress:
                    EGRESS.note(departure)
                if envelope.items:
                    yield envelope.items
    except ReplicaLost:
        EGRESS.note(Departure(request_id, sent=None))
        raise
