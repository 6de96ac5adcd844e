"""Steady load: clients ask again until they are told to finish, and each failure is counted."""

import asyncio

import httpx
from support.made_answers import an_answer
from support.sse_frames import sse_frame

from geotts_benchmarks.replicas.load import Load
from tts.domain.events import Accepted, Answered, Done, RolloutFinished, RolloutResumed

EVENTS = (
    Accepted(seq=1, request_id="loc_1", photos=(), n_parallel=1, depth="auto"),
    RolloutResumed(seq=2, rollout_id=0, from_turn=1),
    RolloutFinished(seq=3, rollout_id=0, stop_reason="failed", error="the replica was lost"),
    Answered(seq=4, answer=an_answer()),
    Done(seq=5, stop_reason="answered"),
)


def stream(*events):
    return httpx.Response(
        200, content=b"".join(sse_frame(event.seq, event.type, event.json_bytes()) for event in events)
    )


def a_load(reply):
    async def answer(request):
        await asyncio.sleep(0)
        if isinstance(reply, Exception):
            raise reply
        return reply() if callable(reply) else reply

    load = Load("http://service", b"a photo", {"n_parallel": 1})
    return load, httpx.AsyncClient(transport=httpx.MockTransport(answer))


async def test_an_answered_request_is_counted_with_what_happened_to_its_rollouts():
    load, http = a_load(lambda: stream(*EVENTS))
    async with http:
        assert await load.send_request(http, seed=1)
    assert (len(load.answered), len(load.resumed_at), load.lost_rollouts, load.failures) == (1, 1, 1, [])


async def test_refusals_cut_streams_and_lost_connections_are_failures():
    for reply in (httpx.Response(503), lambda: stream(*EVENTS[:2]), httpx.ConnectError("gone")):
        load, http = a_load(reply)
        async with http:
            assert not await load.send_request(http, seed=1)
        assert (len(load.answered), len(load.failures)) == (0, 1)


async def test_clients_ask_again_until_they_may_finish():
    load, http = a_load(lambda: stream(*EVENTS))
    async with http:
        clients = await load.keep(http, 2)
        while len(load.answered) < 6:  # noqa: ASYNC110 nobody rings for it
            await asyncio.sleep(0)
        await load.finish(clients)
    assert all(client.done() for client in clients)
    assert load.failures == []
