"""Two gateways, two servers, one real Redis: whatever one starts, the other can resume, cancel, replay, limit and
erase.
"""

import asyncio
import random

import httpx
import pytest
from redis_server import running_redis
from service import PHOTO, an_app, idle, serving

from deployments.access import fingerprint
from deployments.bench.cutting import CuttingTransport
from deployments.runstore.redis import RedisRunStore
from tts.api.client import Client
from tts.config import AccessConfig, ScriptedEngine
from tts.domain.request import LocateOptions

SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)
OPTIONS = LocateOptions(n_parallel=2)
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


def two(redis_url, args):
    prefix = f"test{random.getrandbits(32)}"
    return [serving(args, RedisRunStore(redis_url, 3600, prefix=prefix)) for _ in range(2)]


async def test_a_cut_stream_goes_on_at_the_other(data_store, redis_url):
    first, second = two(redis_url, an_app())
    async with first as (a, _), second as (b, _):
        wire = CuttingTransport([a, b], cuts=6, seed=3, longest=600)
        async with Client(a, transport=wire) as client:
            events = [event async for event in client.stream(PHOTO, OPTIONS)]
            assert wire.cuts_left == 0
            again = [event async for event in client.events(events[0].request_id)]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert again == events


async def test_the_other_cancels(data_store, redis_url):
    first, second = two(redis_url, an_app(SLOW))
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        assert (await other.status(job)).status == "running"
        assert (await other.cancel(job)).was_running
        await idle(gateway)
        assert (await other.status(job)).status == "cancelled"


async def test_the_other_knows_the_key_and_erases(data_store, redis_url):
    first, second = two(redis_url, an_app())
    async with first as (a, _), second as (b, _), Client(a) as mine, Client(b) as other:
        jobs = await asyncio.gather(*(client.submit(PHOTO, OPTIONS, key="k") for client in (mine, other)))
        assert jobs[0] == jobs[1]
        assert (await mine.status(jobs[0], wait_s=20)).status == "done"
        assert (await other.cancel(jobs[0], erase=True)).erased
        async with httpx.AsyncClient() as http:
            assert (await http.get(f"{a}/locate/{jobs[0]}")).status_code == 404


async def test_limits_count_both(data_store, redis_url, tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint('gt_desk')} 1 1\n")
    keys = AccessConfig(mode="keys", keys_file=str(path), burst=3)
    first, second = two(redis_url, an_app(SLOW, access=keys))
    headers = {"Authorization": "Bearer gt_desk", "Prefer": "respond-async"}
    async with first as (a, _), second as (b, _), httpx.AsyncClient(headers=headers, timeout=30) as http:
        codes = [(await http.post(f"{url}/locate", **FORM)).status_code for url in (a, b)]
        assert codes == [202, 429]
        burst = [(await http.post(f"{url}/locate", files={"image": b"x"})).status_code for url in (a, b, a, b)]
        assert 429 in burst


async def test_a_request_of_a_killed_gateway_is_ended_by_the_other(data_store, redis_url):
    first, second = two(redis_url, an_app(SLOW, lease_s=1.0))
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        for duty in gateway._runner._duties:  # a killed process renews nothing
            duty.cancel()
        status = await other.status(job, wait_s=10)
        assert (status.status, status.problem.type) == ("failed", "urn:geotts:problem:gateway-lost")


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
