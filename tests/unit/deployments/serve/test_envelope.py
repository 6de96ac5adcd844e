"""What leaves a process that works for a request is reported to the process that asked, whatever happens next."""

import asyncio
import time
from contextlib import nullcontext

import pytest

from deployments.serve import envelope, lost_replica
from deployments.serve.envelope import Envelope, seal, unseal
from deployments.serve.lost_replica import LastSent
from tts.aio import closing
from tts.domain.outgoing_request import Outgoing
from tts.egress.records import EGRESS, EgressRecord
from tts.errors import ModelError, ReplicaLost
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME

ID = "loc_envelope"


def leave():
    """What a transport does before it sends."""
    request = Outgoing.now(host="h", method="POST", url="http://h/v1", bytes_sent=9, request_id=ID)
    EGRESS.record(request)
    return EgressRecord(ID, request)


async def others_run():
    """Until every other task waits for something."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _nothing_left():
    EGRESS.take(ID)
    yield
    assert EGRESS.take(ID) == ()


async def test_egress_is_reported_before_the_first_batch():
    closed = asyncio.Event()

    async def silent_engine():
        try:
            leave()
            await asyncio.Event().wait()
            yield ["never"]
        finally:
            closed.set()

    async with closing(seal(silent_engine(), ID)) as envelopes, asyncio.timeout(5):
        first = await anext(envelopes)
    assert (list(first.items), len(first.egress)) == ([], 1)
    assert closed.is_set()


async def test_envelopes_carry_every_egress_record_once_and_every_batch_in_order():
    async def engine():
        for number in range(5):
            leave()
            yield [number]
            await asyncio.sleep(0)
        leave()

    envelopes = [Envelope.from_bytes(envelope.to_bytes()) async for envelope in seal(engine(), ID)]
    assert [item for envelope in envelopes for item in envelope.items] == [0, 1, 2, 3, 4]
    assert sum(len(envelope.egress) for envelope in envelopes) == 6


async def test_a_cancelled_call_leaves_its_egress_records_to_other_calls_of_the_request():
    async def engine():
        yield ["first"]
        yield ["second"]
        await asyncio.Event().wait()

    async with closing(seal(engine(), ID)) as remaining:
        await anext(remaining)
        async with closing(seal(engine(), ID)) as cancelled:
            await anext(cancelled)
            leave()
            await others_run()  # both have seen the record; no reader has asked for more
        async with asyncio.timeout(5):
            assert len((await anext(remaining)).egress) == 1


async def test_a_call_that_ends_while_a_record_waits_reports_it():
    """The reader is slow: the record is made while a batch waits for it, and then the work ends."""
    may_end = asyncio.Event()

    async def engine():
        yield ["first"]
        yield ["second"]
        leave()
        await may_end.wait()

    async with closing(seal(engine(), ID)) as envelopes:
        egress = [*(await anext(envelopes)).egress]
        await others_run()
        may_end.set()
        await others_run()
        async for envelope in envelopes:
            egress += envelope.egress
    assert len(egress) == 1


class Charge:
    """Of a generation that has cost this much."""

    is_reported = False

    def __init__(self, gpu_s):
        self.gpu_s = gpu_s

    def end(self):
        return None


async def test_gpu_time_is_reported_while_a_generation_runs():
    charge, goes_on, received = Charge(2.0), asyncio.Event(), []

    async def engine():
        with UNREPORTED_GPU_TIME.track_generation(ID, charge):
            yield ["one"]
            await goes_on.wait()
            yield ["two"]
            await asyncio.Event().wait()

    async with closing(seal(engine(), ID)) as envelopes:
        received.append((await anext(envelopes)).to_bytes())
        charge.gpu_s = 3.0
        goes_on.set()
        received.append((await anext(envelopes)).to_bytes())
    assert [Envelope.from_bytes(one).gpu_s for one in received] == [2.0, 1.0]
    assert not UNREPORTED_GPU_TIME.has_seconds(ID)  # nothing ran after the last envelope

    async def here():
        for one in received:
            yield one

    _ = [batch async for batch in unseal(here(), ID)]
    assert UNREPORTED_GPU_TIME.take(ID) == 3.0


@pytest.mark.parametrize(("reported", "in_all"), [(True, 0.0), (False, 5.0)], ids=["in a usage", "nowhere else"])
async def test_the_envelopes_of_a_stream_that_ends_have_the_gpu_time_that_no_usage_has(reported, in_all):
    async def engine():
        charge = Charge(2.0)
        with UNREPORTED_GPU_TIME.track_generation(ID, charge):
            yield ["one"]
            await first_sent.wait()
            charge.gpu_s = 5.0
            charge.is_reported = reported
            yield ["its usage"]
        if not reported:
            raise ModelError("refused")

    gpu_s, first_sent = [], asyncio.Event()
    with nullcontext() if reported else pytest.raises(ModelError):
        async for one in seal(engine(), ID):
            gpu_s.append(one.gpu_s)
            first_sent.set()
    assert (gpu_s[0], sum(gpu_s)) == (2.0, in_all)


async def test_egress_is_reported_before_the_failure_that_follows_it():
    async def refusing_engine():
        leave()
        raise ModelError("refused")
        yield

    egress: list[EgressRecord] = []
    with pytest.raises(ModelError, match="refused"):
        async for envelope in seal(refusing_engine(), ID):
            egress += envelope.egress
    assert len(egress) == 1


async def test_unsealing_records_the_egress_and_yields_only_the_batches():
    request = leave()
    EGRESS.take(ID)

    async def from_elsewhere():
        yield Envelope((), (request,)).to_bytes()
        yield Envelope(["a batch"]).to_bytes()

    assert [batch async for batch in unseal(from_elsewhere(), ID)] == [["a batch"]]
    assert EGRESS.take(ID) == (request,)


async def test_a_lost_process_may_have_sent_more_than_it_reported():
    request = leave()
    EGRESS.take(ID)

    async def lost():
        yield Envelope((), (request,)).to_bytes()
        raise ReplicaLost("gone")

    with pytest.raises(ReplicaLost):
        _ = [batch async for batch in unseal(lost(), ID)]
    assert EGRESS.take(ID) == (request, EgressRecord(ID, outgoing=None))


async def test_a_process_that_stood_still_stops_work_that_was_given_to_another(monkeypatch):
    monkeypatch.setattr(lost_replica, "SILENT_S", 0.2)
    monkeypatch.setattr(envelope, "BEAT_S", 0.05)
    turns: list[int] = []
    closed, last_sent = asyncio.Event(), LastSent()

    async def engine():
        try:
            while True:
                await last_sent.may_begin()
                turns.append(len(turns))
                yield [turns[-1]]
                await asyncio.sleep(0.3)  # a turn; the beat is due before it
        finally:
            closed.set()

    async with closing(seal(engine(), ID, last_sent)) as envelopes, asyncio.timeout(5):
        await anext(envelopes)
        await asyncio.sleep(0.06)
        time.sleep(0.4)  # noqa: ASYNC251 - as SIGSTOP does, it stops the whole process
        with pytest.raises(ReplicaLost, match="stood still"):
            async for _ in envelopes:
                pass
    assert closed.is_set()
    assert turns == [0], "the turn that was due in the same moment has not begun"
