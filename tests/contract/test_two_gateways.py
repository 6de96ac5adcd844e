"""Two gateways, two servers, one real Redis: whatever one starts, the other can resume, cancel, replay, limit and
erase.
"""

import asyncio
import json
import random

import httpx
import pytest
from support.cutting_network import CuttingTransport
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, serving

from deployments.config import AccessConfig
from deployments.gateway.auth import fingerprint
from deployments.runstore import RunStore
from deployments.runstore.blobs import open_blobs
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.with_blobs import RunStoreWithBlobs
from tts.api.client import Client
from tts.config import ScriptedEngine
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold

pytestmark = pytest.mark.slow

SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)
OPTIONS = LocateOptions(n_parallel=2)
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


def two_gateways(redis_url, args, blobs=None):
    """With `blobs` the bytes of pictures are in that folder and not in Redis."""
    prefix = f"test{random.getrandbits(32)}"
    stores: list[RunStore] = [RedisRunStore(redis_url, 3600, prefix=prefix) for _ in range(2)]
    if blobs is not None:
        stores = [RunStoreWithBlobs(store, open_blobs(str(blobs)), 3600) for store in stores]
    return [serving(args, store) for store in stores]


async def test_a_cut_stream_continues_at_the_other_gateway(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app())
    async with first as (a, _), second as (b, _):
        wire = CuttingTransport([a, b], cuts=6, seed=3, longest=600)
        async with Client(a, transport=wire) as client:
            events = [event async for event in client.stream(PHOTO, OPTIONS)]
            assert wire.cuts_left == 0
            again = [event async for event in client.events(events[0].request_id)]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert again == events


async def test_a_gateway_cancels_a_request_of_the_other_gateway(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app(SLOW))
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        assert (await other.status(job)).status == "running"
        assert (await other.cancel(job)).was_running
        await idle(gateway)
        assert (await other.status(job)).status == "cancelled"


async def test_an_idempotency_key_and_an_erasure_work_across_both_gateways(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app())
    async with first as (a, _), second as (b, _), Client(a) as mine, Client(b) as other:
        jobs = await asyncio.gather(*(client.submit(PHOTO, OPTIONS, key="k") for client in (mine, other)))
        assert jobs[0] == jobs[1]
        assert (await mine.status(jobs[0], wait_s=20)).status == "done"
        assert (await other.cancel(jobs[0], erase=True)).erased
        async with httpx.AsyncClient() as http:
            assert (await http.get(f"{a}/locate/{jobs[0]}")).status_code == 404


async def test_limits_of_a_key_count_the_requests_at_both_gateways(data_store, redis_url, tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint('gt_desk')} 1 1\n")
    keys = AccessConfig(mode="keys", keys_file=str(path), burst=3)
    first, second = two_gateways(redis_url, an_app(SLOW, access=keys))
    headers = {"Authorization": "Bearer gt_desk", "Prefer": "respond-async"}
    async with first as (a, _), second as (b, _), httpx.AsyncClient(headers=headers, timeout=30) as http:
        codes = [(await http.post(f"{url}/locate", **FORM)).status_code for url in (a, b)]
        assert codes == [202, 429]
        burst = [(await http.post(f"{url}/locate", files={"image": b"x"})).status_code for url in (a, b, a, b)]
        assert 429 in burst


def silence(gateway):
    """What a gateway no longer does when its machine is cut off: it works on, and renews no lease."""
    for duty in gateway._runner._duties:
        duty.cancel()


async def goes_on(gateway):
    """A gateway that was silenced does its duties again, and finds out that its request is another's."""
    gateway._runner.start_duties()
    await idle(gateway)


async def until_a_turn_is_finished(client, job):
    async for event in client.events(job):
        if event.type == "turn_finished":
            return event.seq
    raise AssertionError("no turn was finished")


TURNS = ScriptedEngine(turns=4, tokens_per_turn=8, turn_s=1.0)


async def test_a_request_of_a_lost_gateway_continues_at_the_other_gateway(data_store, redis_url):
    """From the last checkpoints: no finished turn is done again, and its stream is resumed by its last event."""
    first, second = two_gateways(redis_url, an_app(TURNS, lease_s=0.8))
    async with first as (a, gateway), second as (b, other_gateway), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        last_seen = await until_a_turn_is_finished(mine, job)
        silence(gateway)
        rest = [event async for event in other.events(job, after=last_seen)]
        whole = [event async for event in other.events(job)]
        assert [event.seq for event in whole] == list(range(1, len(whole) + 1))
        assert whole[last_seen:] == rest
        assert [event.type for event in whole].count("answer") == 1
        run = fold(whole)
        assert (run.stop_reason, len(run.rollouts)) == ("answered", 2)
        resumed = [event for event in whole if event.type == "rollout_resumed"]
        assert resumed
        assert any(event.from_turn >= 0 for event in resumed)
        finished = [(event.rollout_id, event.turn) for event in whole if event.type == "turn_finished"]
        assert sorted(finished) == sorted(set(finished))
        assert all(len(rollout.turns) == 4 for rollout in run.trajectories)
        await goes_on(gateway)  # it changes nothing
        assert [event async for event in other.events(job)] == whole
        await idle(other_gateway)


def zooming_tape(folder):
    """Two rollouts that look at a region in each of their first three turns, and answer in the fourth."""
    zoom = {"name": "image_zoom", "arguments": {"bbox": [0.1, 0.1, 0.6, 0.6]}}
    looking = {"text": "A sign.", "calls": [zoom], "token_s": 0.5}
    turns = [{"rollout": i, "turn": turn, **looking} for i in range(2) for turn in range(3)]
    last = {"turn": 3, "text": '{"lat": 48.86, "lon": 2.35, "city": "Paris", "country": "France"}'}
    tape = folder / "tape.jsonl"
    tape.write_text("".join(json.dumps(turn) + "\n" for turn in [*turns, *({**last, "rollout": i} for i in range(2))]))
    return ScriptedEngine(tape=str(tape), sees_pictures=True)


async def test_with_a_blob_store_the_other_gateway_gets_photo_and_crops_from_there(data_store, redis_url, tmp_path):
    """The request goes on with the pictures that its conversations show; none of their bytes was in Redis."""
    blobs = tmp_path / "blobs"
    first, second = two_gateways(redis_url, an_app(zooming_tape(tmp_path), lease_s=0.8), blobs)
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        await until_a_turn_is_finished(mine, job)
        silence(gateway)
        whole = [event async for event in other.events(job)]
        run = fold(whole)
        assert run.stop_reason == "answered"
        assert any(event.type == "rollout_resumed" and event.from_turn >= 0 for event in whole)
        finished = [(event.rollout_id, event.turn) for event in whole if event.type == "turn_finished"]
        assert sorted(finished) == [(i, turn) for i in range(2) for turn in range(4)]
        shown = {image.sha256 for event in whole if event.type == "tool_result" for image in event.result.images}
        assert shown
        kept = {path.name for path in blobs.rglob("*") if path.is_file()}
        assert {whole[0].photos[0].sha256, *shown} <= kept
        for sha256 in shown:
            assert await other.file(job, sha256)
        assert (await other.cancel(job, erase=True)).erased
        assert not [path for path in blobs.rglob("*") if path.is_file() and path.name in kept]


async def test_a_stream_of_a_lost_gateway_that_no_client_can_resume_ends_as_failed(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app(SLOW, lease_s=0.8))
    async with first as (a, gateway), second as (b, _), Client(b) as other, httpx.AsyncClient(timeout=30) as http:
        async with http.stream("POST", f"{a}/locate", **FORM, headers={"Accept": "text/event-stream"}) as reply:
            job = reply.headers["x-request-id"]
            silence(gateway)
            status = await other.status(job, wait_s=10)
        assert (status.status, status.problem.type) == ("failed", "urn:geotts:problem:gateway-lost")


async def test_a_repeated_key_after_a_lost_gateway_finds_the_continued_request(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app(TURNS, lease_s=0.8))
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS, key="again")
        await until_a_turn_is_finished(mine, job)
        silence(gateway)
        assert await other.submit(PHOTO, OPTIONS, key="again") == job
        status = await other.status(job, wait_s=20)
        assert (status.status, status.answer is None) == ("done", False)


async def test_a_request_of_a_lost_gateway_with_max_precision_is_lost_and_may_be_resent(data_store, redis_url):
    """To go on, another gateway would need what rollouts found: with `max_precision` no store has it."""
    first, second = two_gateways(redis_url, an_app(TURNS, lease_s=0.8, max_precision="city"))
    async with first as (a, gateway), second as (b, other_gateway), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS, key="coarse")
        last_seen = await until_a_turn_is_finished(mine, job)
        assert await other_gateway.store.saved_files(job) == {}
        silence(gateway)
        async with asyncio.timeout(15):
            rest = [event async for event in other.events(job, after=last_seen)]
        assert [event.type for event in rest[-2:]] == ["error", "done"]
        assert (rest[-2].code, rest[-2].status) == ("gateway-lost", 503)
        assert 0.0 < rest[-2].t_s == rest[-1].t_s == max(event.t_s for event in rest)
        assert not {"answer", "rollout_resumed"} & {event.type for event in rest}
        status = await other.status(job)
        assert (status.status, status.problem.type) == ("failed", "urn:geotts:problem:gateway-lost")
        await goes_on(gateway)  # it stops when it finds out, and writes nothing more
        assert [event async for event in other.events(job, after=last_seen)] == rest
        again = await other.submit(PHOTO, OPTIONS, key="coarse")
        assert again != job
        answered = await other.status(again, wait_s=30)
        assert (answered.status, answered.answer.level) == ("done", "city")


async def test_without_redis_requests_are_refused_and_readiness_says_so(data_store):
    args = an_app()
    dead = RedisRunStore("redis://127.0.0.1:1/0", 60)
    async with serving(args, dead) as (url, _), httpx.AsyncClient(timeout=30) as http:
        reply = await http.post(f"{url}/locate", **FORM)
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "2")
        assert reply.json()["type"] == "urn:geotts:problem:store-unavailable"
        ready = await http.get(f"{url}/readyz")
        assert ready.status_code == 503
        assert "ok" not in ready.json()["checks"]["store"]
        assert (await http.get(f"{url}/healthz")).status_code == 200


async def begun_and_left(a, b, key, readers):
    """Begin a request at `a`, join it at `b` (with `readers`), leave the first; the reply of the second."""
    headers = {"Idempotency-Key": key, "Accept": "text/event-stream"}
    form = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
    async with httpx.AsyncClient(timeout=30) as http, httpx.AsyncClient(timeout=30) as other:
        async with http.stream("POST", f"{a}/locate", **form, headers=headers) as first:
            lines = first.aiter_lines()  # kept: one that nobody holds closes its stream
            await anext(lines)
            joined = asyncio.create_task(other.post(f"{b}/locate", **form, headers={"Idempotency-Key": key}))
            async with asyncio.timeout(5):
                while not readers():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            await asyncio.sleep(0.1)
        return await joined


@pytest.mark.parametrize("at_the_other", [False, True])
async def test_a_client_that_joined_a_request_keeps_it_when_the_first_disconnects(data_store, redis_url, at_the_other):
    first, second = two_gateways(redis_url, an_app(ScriptedEngine(turns=4, tokens_per_turn=8, turn_s=1.0)))
    async with first as (a, gateway), second as (b, other):

        def joined():
            readers = (other if at_the_other else gateway)._readers._readers_by_request.values()
            return sum(local.count for local in readers) >= (1 if at_the_other else 2)

        reply = await begun_and_left(a, b if at_the_other else a, f"join {at_the_other}".replace(" ", "-"), joined)
        assert (reply.status_code, reply.headers["idempotency-replayed"]) == (200, "true"), reply.text
        await idle(gateway)


async def test_work_ends_when_all_its_readers_have_disconnected(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app(SLOW))
    headers = {"Idempotency-Key": "left", "Accept": "text/event-stream"}
    async with first as (a, gateway), second as (b, _), httpx.AsyncClient(timeout=30) as http:
        async with http.stream("POST", f"{a}/locate", **FORM, headers=headers) as mine:
            lines = mine.aiter_lines()
            await anext(lines)
            async with http.stream("POST", f"{b}/locate", **FORM, headers=headers) as joined:
                others = joined.aiter_lines()
                await anext(others)
                await asyncio.sleep(0.2)
        async with asyncio.timeout(8):
            await idle(gateway)


async def test_a_gateway_that_is_late_with_its_lease_keeps_its_request(data_store, redis_url):
    first, second = two_gateways(redis_url, an_app(SLOW, lease_s=2.0))
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        renewing = gateway._runner._duties[1]
        renewing.cancel()
        await asyncio.sleep(2.1)  # as after an outage of the store that was longer than the lease
        reading = asyncio.create_task(other.status(job, wait_s=3))
        await asyncio.sleep(0.4)
        gateway._runner.start_duties()
        assert (await reading).status == "running"
        assert (await other.cancel(job)).was_running
        await idle(gateway)
