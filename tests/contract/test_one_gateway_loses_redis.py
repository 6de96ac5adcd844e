"""Two gateways with one real Redis, and one of them loses its way to it for some seconds: every request ends in its
answer or a declared error, the other knows, nothing is done twice, and the first is well again without a restart.
"""

import asyncio
import json
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx
import pytest
from support.cut_redis import CUTS, CutRedis, cut_redis
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, ports_of, serving

from deployments.runstore.redis import RedisRunStore
from tts.aio import closing
from tts.config import ScriptedEngine
from tts.ports.rollout_groups import Rollouts

WORK_S = 3.0
SLOW = ScriptedEngine(turns=4, tokens_per_turn=8, turn_s=WORK_S / 4)
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1", "depth": "deep"}}
STREAM = {"Accept": "application/x-ndjson"}
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("how", CUTS)]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr("deployments.runstore.redis._SILENCE_S", 0.5)


@dataclass
class Counted:
    """Rollouts as they are, and how many groups of them were started."""

    inner: Rollouts
    groups: int = 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    async def run(self, group):
        self.groups += 1
        async with closing(self.inner.run(group)) as batches:
            async for batch in batches:
                yield batch


@dataclass
class Two:
    """`a` may lose its `way` to Redis, `b` keeps it."""

    a: str
    b: str
    first: object
    second: object
    way: CutRedis
    work: Counted
    http: httpx.AsyncClient

    async def stream(self, url, key, began=None):
        """The events of a new request; `began` is set with its name at the first of them."""
        headers = {**STREAM, "Idempotency-Key": key}
        async with self.http.stream("POST", f"{url}/locate", **FORM, headers=headers) as reply:
            return await self._events(reply, began)

    async def follow(self, url, request_id):
        async with self.http.stream("GET", f"{url}/locate/{request_id}/events", headers=STREAM) as reply:
            return await self._events(reply)

    async def _events(self, reply, began=None):
        assert reply.status_code == 200, await reply.aread()
        seen = []
        async for line in reply.aiter_lines():
            if line.strip():
                seen.append(json.loads(line))
                if began is not None and not began.done():
                    began.set_result(seen[0]["request_id"])
        return seen

    async def outage(self, how, seconds):
        await self.way.cut(how)
        await asyncio.sleep(seconds)
        await self.way.reconnect()

    async def is_ready(self):
        """Waits until the first gateway says so."""
        async with asyncio.timeout(12):
            while (await self.http.get(f"{self.a}/readyz")).status_code != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


@asynccontextmanager
async def two_gateways(redis_url, engine=SLOW, **gateway):
    args = an_app(engine, **gateway)
    ports = ports_of(an_app(engine))
    work = Counted(ports.rollouts)
    ports = replace(ports, rollouts=work)
    prefix = f"test{random.getrandbits(32)}"
    async with cut_redis(redis_url) as way:
        stores = [RedisRunStore(url, 3600, prefix=prefix) for url in (way.url, redis_url)]
        async with (
            serving(args, stores[0], ports=ports) as (a, first),
            serving(args, stores[1], ports=ports) as (b, second),
            httpx.AsyncClient(timeout=60) as http,
        ):
            yield Two(a, b, first, second, way, work, http)


def kind_of_end(events):
    """The types of the last two, of a log that has each of its events once."""
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["type"] for event in events]
    assert (kinds.count("done"), kinds.count("answer") + kinds.count("error")) == (1, 1)
    return "answer" if "answer" in kinds else events[kinds.index("error")]["code"]


async def begin_request(pair, url, key):
    """A request at work, and its name."""
    began = asyncio.get_running_loop().create_future()
    stream = asyncio.create_task(pair.stream(url, key, began))
    return stream, await asyncio.wait_for(began, 10)


async def test_running_requests_and_their_readers_outlast_a_short_outage_of_redis(data_store, redis_url, how):
    async with two_gateways(redis_url) as pair, asyncio.timeout(50):
        mine, id_ = await begin_request(pair, pair.a, "mine")
        other, _ = await begin_request(pair, pair.b, "other")
        follower = asyncio.create_task(pair.follow(pair.b, id_))
        await asyncio.sleep(0.3)
        await pair.outage(how, 2.0)
        streams = await asyncio.gather(mine, other, follower)
        assert [kind_of_end(events) for events in streams] == ["answer"] * 3
        assert streams[2] == streams[0]
        assert await pair.stream(pair.b, "mine") == streams[0]
        assert pair.work.groups == 2
        await pair.is_ready()
        assert kind_of_end(await pair.stream(pair.a, "new")) == "answer"
        await idle(pair.first)


async def test_the_other_gateway_takes_the_work_over_after_a_long_outage(data_store, redis_url, how, monkeypatch):
    monkeypatch.setattr("deployments.runstore.redis._PATIENCE_S", 1.0)
    async with two_gateways(redis_url, lease_s=3.0) as pair, asyncio.timeout(90):
        mine, id_ = await begin_request(pair, pair.a, "mine")
        follower = asyncio.create_task(pair.follow(pair.b, id_))
        await asyncio.sleep(0.3)
        outage = asyncio.create_task(pair.outage(how, 14.0))
        await asyncio.sleep(0.1)
        refused = await pair.http.post(f"{pair.a}/locate", **FORM)
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:geotts:problem:store-unavailable")
        assert kind_of_end(await pair.stream(pair.b, "other")) == "answer"
        events = await mine
        assert [event["type"] for event in events[-2:]] == ["error", "done"]
        assert events[-2]["code"] == "store-unavailable"
        followed = await follower
        assert kind_of_end(followed) == "answer"
        again = await pair.stream(pair.b, "mine")  # the same request under its key is the work that went on
        assert (again, again[0]["request_id"]) == (followed, id_)
        await outage
        await pair.is_ready()
        assert await pair.follow(pair.a, id_) == followed
        assert await pair.stream(pair.a, "mine") == again
        assert pair.work.groups == 3
        assert kind_of_end(await pair.stream(pair.a, "new")) == "answer"
        await idle(pair.first)


async def test_the_other_gateway_can_cancel_at_once_after_an_outage(data_store, redis_url, how):
    """By the bell: renewing leases would find out only after half a minute."""
    engine = ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=20.0)
    async with two_gateways(redis_url, engine, lease_s=120.0) as pair, asyncio.timeout(40):
        mine, id_ = await begin_request(pair, pair.a, "mine")
        await pair.outage(how, 1.0)
        await pair.is_ready()
        await asyncio.sleep(2.0)
        await pair.http.delete(f"{pair.b}/locate/{id_}")
        events = await asyncio.wait_for(mine, 5)
        assert (events[-1]["type"], events[-1]["stop_reason"]) == ("done", "cancelled")
        await idle(pair.first)


async def test_an_idle_gateway_serves_its_next_requests_after_an_outage(data_store, redis_url, how):
    """Within two silences: no connection that died unnoticed costs a request after that."""
    async with (
        two_gateways(redis_url, ScriptedEngine(turns=2, tokens_per_turn=8, turn_s=0.2)) as pair,
        asyncio.timeout(50),
    ):
        await asyncio.gather(*(pair.stream(pair.a, f"before-{i}") for i in range(6)))
        await pair.outage(how, 1.0)
        await asyncio.sleep(2.0)
        streams = await asyncio.gather(*(pair.stream(pair.a, f"after-{i}") for i in range(6)))
        assert [kind_of_end(events) for events in streams] == ["answer"] * 6
        assert pair.work.groups == 12
