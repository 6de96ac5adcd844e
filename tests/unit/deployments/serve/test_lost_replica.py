"""Replicas that say nothing are lost to a request, and those that are slow but alive are not."""

import asyncio
import time

import pytest
from ray.serve._private.common import RequestMetadata
from ray.serve.handle import DeploymentResponseGenerator
from support.basics import a_context

from deployments.serve import envelope, lost_replica
from deployments.serve.envelope import seal, unseal
from deployments.serve.handles import PhotoRefs, RemoteToolbox
from deployments.serve.lost_replica import LastSent, first_reply, streamed_items
from tts.aio import closing
from tts.domain.tooling import ToolCall
from tts.errors import GivenAway, ModelError, ReplicaLost
from tts.ports.toolbox import ToolContext, ToolSchema

SHORT_S = 0.05


class Stream:
    """What a streaming call returns: items after so many seconds each."""

    def __init__(self, *pauses_s):
        self.pauses_s = pauses_s

    async def __aiter__(self):
        for number, pause_s in enumerate(self.pauses_s):
            await asyncio.sleep(pause_s)
            yield number


async def collect_items(response, silent_s=SHORT_S):
    return [item async for item in streamed_items(response, silent_s)]


async def test_a_stream_without_silence_yields_its_items_in_order():
    assert await collect_items(Stream(0, 0.01, 0.01)) == [0, 1, 2]
    assert await collect_items(Stream()) == []


@pytest.mark.parametrize("pauses_s", [(30,), (0, 30), (0, 0, 30)])
async def test_silence_is_a_lost_replica(pauses_s):
    with pytest.raises(ReplicaLost, match="said nothing"):
        await collect_items(Stream(*pauses_s))


async def test_waiting_for_a_replica_is_not_silence():
    assigned = asyncio.get_running_loop().create_future()
    response: DeploymentResponseGenerator[int] = DeploymentResponseGenerator(
        assigned, RequestMetadata("request", "call"), False
    )
    reading = asyncio.create_task(collect_items(response))
    await asyncio.sleep(4 * SHORT_S)
    assert not reading.done()
    assigned.set_result(Stream(0, 0).__aiter__())
    assert await reading == [0, 1]


async def test_silence_is_counted_from_the_last_item_and_only_while_the_reader_waits():
    assert await collect_items(Stream(0, *[0.1] * 6), 0.4) == list(range(7))
    got = []
    async with closing(streamed_items(Stream(0, 0, 0), SHORT_S)) as items:
        async for item in items:
            await asyncio.sleep(3 * SHORT_S)
            got.append(item)
    assert got == [0, 1, 2]


async def test_a_slow_stream_with_its_beat_is_not_silent(monkeypatch):
    monkeypatch.setattr(envelope, "BEAT_S", 0.02)

    async def thinking():
        await asyncio.sleep(0.5)
        yield ["at last"]

    async def sealed():
        async for one in seal(thinking(), "loc_beat"):
            yield one.to_bytes()

    assert [batch async for batch in unseal(streamed_items(sealed(), 0.3), "loc_beat")] == [["at last"]]


@pytest.mark.parametrize("pauses_s", [(0.3, 0), (0, 0.3, 0)])
async def test_a_reader_that_stood_still_itself_gets_the_items_that_came_meanwhile(monkeypatch, pauses_s):
    monkeypatch.setattr(lost_replica, "_MAX_TIMER_DELAY_S", 0.05)
    reading = asyncio.create_task(collect_items(Stream(*pauses_s), 0.2))
    await asyncio.sleep(0.1)
    time.sleep(0.4)  # noqa: ASYNC251 - as SIGSTOP does: its timer and what it waits for are due at once
    assert await reading == list(range(len(pauses_s)))


async def test_a_process_that_stood_still_may_neither_begin_nor_send_anything(monkeypatch):
    monkeypatch.setattr(lost_replica, "SILENT_S", 0.2)
    last_sent = LastSent()
    await asyncio.sleep(0.1)
    last_sent.record_sent()
    await asyncio.sleep(0.1)
    await last_sent.may_begin()
    time.sleep(0.2)  # noqa: ASYNC251 - as SIGSTOP does
    with pytest.raises(GivenAway, match="stood still"):
        await last_sent.may_begin()
    with pytest.raises(GivenAway):
        last_sent.record_sent()


async def test_an_error_raised_by_the_replica_is_passed_on():
    async def failing():
        yield 1
        raise ModelError("no")

    with pytest.raises(ModelError):
        await collect_items(failing())


async def test_closing_a_stream_early_leaves_nothing_running():
    async with closing(streamed_items(Stream(0, 0, 30), SHORT_S)) as items:
        assert await anext(items) == 0
    assert len(asyncio.all_tasks()) == 1


async def test_a_call_without_a_reply_is_made_once_more_and_the_first_reply_counts():
    made: list[int] = []

    async def call():
        made.append(len(made))
        if len(made) == 1:
            await asyncio.Event().wait()
        return "the second"

    assert await first_reply(call, SHORT_S) == "the second"
    assert made == [0, 1]
    assert len(asyncio.all_tasks()) == 1


async def test_a_call_with_a_reply_is_made_once_and_its_error_is_passed_on():
    made = []

    async def call():
        made.append(1)
        raise ModelError("refused")

    with pytest.raises(ModelError, match="refused"):
        await first_reply(call, SHORT_S)
    assert made == [1]


@pytest.mark.parametrize("silent_s", [SHORT_S, None])
async def test_a_call_whose_replica_is_lost_is_made_once_more(silent_s):
    made = []

    async def call():
        made.append(1)
        if len(made) == 1:
            raise ReplicaLost("gone")
        return "the second"

    assert await first_reply(call, silent_s) == "the second"


async def test_a_first_replica_that_is_lost_late_does_not_end_the_second_call():
    made = []

    async def call():
        made.append(1)
        if len(made) == 1:
            await asyncio.sleep(2 * SHORT_S)
            raise ReplicaLost("gone")
        await asyncio.sleep(3 * SHORT_S)
        return "the second"

    assert await first_reply(call, SHORT_S) == "the second"
    assert len(made) == 2


async def test_two_lost_replicas_are_reported():
    made = []

    async def call():
        made.append(1)
        raise ReplicaLost("gone")

    with pytest.raises(ReplicaLost, match="gone"):
        await first_reply(call, SHORT_S)
    assert made == [1, 1]


async def test_a_caller_that_is_cancelled_cancels_both_calls():
    ended = []

    async def call():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    waiting = asyncio.create_task(first_reply(call, SHORT_S))
    await asyncio.sleep(3 * SHORT_S)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == [1, 1]


class Broker:
    """A handle of the Tools deployment whose first call is never answered."""

    def __init__(self):
        self.made = 0

    @property
    def call(self):
        return self

    def remote(self, *_):
        self.made += 1
        return self._second() if self.made > 1 else asyncio.Event().wait()

    async def _second(self):
        return "outcome"


@pytest.mark.parametrize(("repeatable", "made"), [(True, 2), (False, 1)])
async def test_only_a_tool_that_changes_nothing_is_called_once_more(monkeypatch, repeatable, made):
    monkeypatch.setattr(lost_replica, "SILENT_S", SHORT_S)
    schema = ToolSchema(name="look", description="", parameters={}, repeatable=repeatable)
    broker = Broker()
    toolbox = RemoteToolbox(broker, (schema,), PhotoRefs(), may_send=False)
    calling = asyncio.create_task(
        toolbox.call(ToolCall(id="1", name="look", arguments={}), ToolContext(request=a_context()))
    )
    await asyncio.wait([calling], timeout=30 if repeatable else 6 * SHORT_S)
    assert broker.made == made
    assert calling.done() is repeatable
    calling.cancel()
