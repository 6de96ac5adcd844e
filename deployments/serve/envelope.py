"""The unit of streams between processes: a batch of items, and what happened in the sending process since the last one.

That is the egress, which the transports of engines and tools record (`tts.egress.records`), and the GPU time that no
usage has reported (`tts.inference.unreported_gpu_time`).
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Generic, NamedTuple, TypeVar

from deployments.serve.lost_replica import LastSent
from tts.aio import Send, closing, first_to_end, stream
from tts.egress.records import EGRESS, EgressRecord
from tts.errors import GeoTTSError, ReplicaLost
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME

BEAT_S = 2.0
"""After so long without news an envelope says that the process still works (`deployments.serve.lost_replica`)."""
T = TypeVar("T")


class Envelope(NamedTuple, Generic[T]):
    """`items` is empty if the envelope only reports, or is a heartbeat. `gpu_s` is negative if seconds that an earlier
    envelope had are in the usage of an item now.

    A request has hundreds. Therefore it is a tuple, which is unpickled faster than a data class, and it goes to the
    other process as bytes that `pickle` wrote: Serve itself uses cloudpickle, which takes more than twice the time.
    """

    items: Sequence[T]
    egress: tuple[EgressRecord, ...] = ()
    gpu_s: float = 0.0

    def to_bytes(self) -> bytes:
        """The form in which it goes to another process."""
        return pickle.dumps(tuple(self), protocol=pickle.HIGHEST_PROTOCOL)

    @classmethod
    def from_bytes(cls, data: bytes) -> Envelope[Any]:
        """The envelope that a process of this service made `data` of."""
        return cls(*pickle.loads(data))


async def seal(
    batches: AsyncIterator[Sequence[T]], request_id: str, last_sent: LastSent | None = None
) -> AsyncIterator[Envelope[T]]:
    """Batches in envelopes. What leaves is reported at once, in an envelope of its own where no batch is ready: it is
    known also when the request is cancelled in the next moment. Closing this closes the batches. `last_sent` is called
    with each.

    An envelope takes the records as it goes out, not before: several calls of one request share them, and a call that
    ends while its envelope waits for the reader would take the records of another with it.

    Raises:
        GivenAway: this process stood still for so long that its reader has given it up.
    """
    last = last_sent or LastSent()

    async def produce(send: Send[Sequence[T]]) -> None:
        async def report() -> None:
            if EGRESS.has_records(request_id) or UNREPORTED_GPU_TIME.has_seconds(request_id):
                await send(())

        with EGRESS.watch(request_id) as news:
            try:
                await first_to_end(_forward(batches, send), _send_heartbeats(news, report, send))
            except GeoTTSError:
                await report()
                raise
            await report()

    async with aclosing(stream(produce, maxsize=1)) as ready:  # batches merge while the reader is slow
        async for batch in ready:
            last.record_sent()
            yield Envelope(batch, EGRESS.take(request_id), UNREPORTED_GPU_TIME.take(request_id))


async def _forward(batches: AsyncIterator[Sequence[T]], send: Send[Sequence[T]]) -> None:
    async with closing(batches) as items:
        async for batch in items:
            await send(batch)


async def _send_heartbeats(news: asyncio.Event, report: Callable[[], Awaitable[None]], send: Send[Sequence[T]]) -> None:
    """Report what leaves as soon as there is any, and every `BEAT_S` without any that this process works."""
    while True:
        try:
            async with asyncio.timeout(BEAT_S):
                await news.wait()
        except TimeoutError:
            await send(())
            continue
        news.clear()
        await report()


async def unseal(envelopes: AsyncIterator[bytes], request_id: str) -> AsyncIterator[Sequence[Any]]:
    """The batches of envelopes that came as bytes. The egress and the GPU time of the other process are recorded in
    this process, which passes them on. If the other process is lost, this process records that it may have sent more.
    """
    try:
        async with closing(envelopes) as stream_of_envelopes:
            async for data in stream_of_envelopes:
                envelope = Envelope.from_bytes(data)
                for record in envelope.egress:
                    EGRESS.add(record)
                UNREPORTED_GPU_TIME.add(request_id, envelope.gpu_s)
                if envelope.items:
                    yield envelope.items
    except ReplicaLost:
        EGRESS.add(EgressRecord(request_id, outgoing=None))
        raise
