"""The unit of streams between processes: a batch of items, and the egress of the sending process since the last one.

The transports of engines, verifiers and rollouts record the egress (`tts.net.egress`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from tts.aio import Send, beside, closing, stream
from tts.domain.outgoing import Outgoing
from tts.errors import GeoTTSError
from tts.net.egress import EGRESS

BEAT_S = 2.0
"""After so long without news an envelope says that the process still works (`deployments.serve.lost_replica`)."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Envelope(Generic[T]):
    """`items` is empty if the envelope only reports egress, or is a heartbeat."""

    items: Sequence[T]
    egress: tuple[Outgoing, ...] = ()


async def seal(batches: AsyncIterator[Sequence[T]], request_id: str) -> AsyncIterator[Envelope[T]]:
    """Batches in envelopes. What leaves is told at once, in an envelope of its own where no batch is ready: it is known
    also when the request is cancelled in the next moment. Closing this closes the batches.
    """

    async def produce(send: Send[Envelope[T]]) -> None:
        async def tell() -> None:
            if egress := EGRESS.take(request_id):
                await send(Envelope((), egress))

        with EGRESS.watch(request_id) as news:

            async def tell_all() -> None:
                while True:
                    try:
                        async with asyncio.timeout(BEAT_S):
                            await news.wait()
                    except TimeoutError:
                        await send(Envelope(()))  # the beat
                        continue
                    news.clear()
                    await tell()

            try:
                async with beside(tell_all()), closing(batches) as items:
                    async for batch in items:
                        await send(Envelope(batch, EGRESS.take(request_id)))
            except GeoTTSError:
                await tell()
                raise
            await tell()

    async with aclosing(stream(produce, maxsize=1)) as envelopes:  # batches merge while the reader is slow
        async for envelope in envelopes:
            yield envelope


async def unseal(envelopes: AsyncIterator[Envelope[T]]) -> AsyncIterator[Sequence[T]]:
    """The batches. The egress of the other process is recorded in this process, which passes it on."""
    async with closing(envelopes) as stream_of_envelopes:
        async for envelope in stream_of_envelopes:
            for egress in envelope.egress:
                EGRESS.note(egress)
            if envelope.items:
                yield envelope.items
