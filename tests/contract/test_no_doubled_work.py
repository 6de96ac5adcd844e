"""Two gateways on one real Redis, and the ways in which a request or a turn could be done twice. None of them is."""

import asyncio
import random
import time

import pytest
from support.engine_journal import read_journal
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, serving

from deployments.runstore import IdempotencyClaim, StoreUnavailable
from deployments.runstore.redis import RedisRunStore
from tts.api.client import Client
from tts.config import ScriptedEngine
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold

pytestmark = pytest.mark.slow

OPTIONS = LocateOptions(n_parallel=2)
TURNS = 4
TURN_S = 1.0
LEASE_S = 0.8


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def stores(redis_url):
    prefix = f"test{random.getrandbits(32)}"
    return [RedisRunStore(redis_url, 3600, prefix=prefix) for _ in range(2)]


def args_of(folder, name, turn_s=TURN_S, **gateway):
    """An engine with a journal of its own: which gateway began which turn."""
    engine = ScriptedEngine(turns=TURNS, tokens_per_turn=8, turn_s=turn_s, journal=str(folder / name))
    return an_app(engine, **gateway)


def stop_renewing(gateway):
    """As when the process is stopped: it says nothing to the store. What was due is done when it goes on."""
    for duty in gateway._runner._duties:
        duty.cancel()


async def until_a_turn_is_finished(client, job):
    async for event in client.events(job):
        if event.type == "turn_finished":
            return
    raise AssertionError("no turn was finished")


def finished(events):
    return sorted((event.rollout_id, event.turn) for event in events if event.type == "turn_finished")


ALL_TURNS = [(rollout, turn) for rollout in range(2) for turn in range(TURNS)]


async def test_a_gateway_that_lost_its_lease_begins_nothing_more(data_store, stores, tmp_path):
    first, second = (
        serving(args_of(tmp_path, name, lease_s=LEASE_S), store) for name, store in zip("ab", stores, strict=True)
    )
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        job = await mine.submit(PHOTO, OPTIONS)
        await until_a_turn_is_finished(mine, job)
        stop_renewing(gateway)
        lease_over = time.monotonic() + LEASE_S
        whole = [event async for event in other.events(job)]
        assert fold(whole).stop_reason == "answered"
        assert finished(whole) == ALL_TURNS
        assert any(event.type == "rollout_resumed" for event in whole)
        late = [start for start in read_journal(tmp_path / "a") if start.at > lease_over]
        assert late == []
        gateway._runner.start_duties()  # it goes on, and hears that its request is another's
        await idle(gateway)
        assert len(read_journal(tmp_path / "a")) < len(ALL_TURNS)


async def test_a_gateway_continues_its_request_when_an_expired_lease_is_renewed(data_store, stores, tmp_path):
    async with serving(args_of(tmp_path, "a", 0.3, lease_s=LEASE_S), stores[0]) as (a, gateway), Client(a) as mine:
        job = await mine.submit(PHOTO, OPTIONS)
        await until_a_turn_is_finished(mine, job)
        stop_renewing(gateway)
        await asyncio.sleep(LEASE_S + 1.0)
        assert (await mine.status(job)).status == "running"
        gateway._runner.start_duties()
        whole = [event async for event in mine.events(job)]
        assert finished(whole) == ALL_TURNS
        assert not [event for event in whole if event.type == "rollout_resumed"]
        assert len(read_journal(tmp_path / "a")) == len(ALL_TURNS)


class AwayAfterATurn(RedisRunStore):
    """A Redis that is away from the first end of a turn until `back`; its gateway is lost after the next write.

    What the gateway saves after that still arrives, what it appends does not.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.back = asyncio.Event()
        self.lost = asyncio.Event()
        self.is_away = False

    async def append(self, request_id, entries):
        if self.lost.is_set() or self.back.is_set():
            self.lost.set()
            raise StoreUnavailable("nobody hears this gateway any more")
        if self.is_away:
            await self.back.wait()
        await super().append(request_id, entries)
        self.is_away = self.is_away or any(entry.kind == "turn_finished" for entry in entries)


async def test_turns_finished_while_the_store_was_away_keep_the_last_valid_checkpoint(data_store, redis_url, tmp_path):
    prefix = f"test{random.getrandbits(32)}"
    slow = AwayAfterATurn(redis_url, 3600, prefix=prefix)
    first = serving(args_of(tmp_path, "a", 0.3, lease_s=30.0), slow)
    second = serving(args_of(tmp_path, "b", 0.3, lease_s=LEASE_S), RedisRunStore(redis_url, 3600, prefix=prefix))
    async with first as (a, gateway), Client(a) as mine:
        one = LocateOptions(n_parallel=1)
        job = await mine.submit(PHOTO, one)
        await until_a_turn_is_finished(mine, job)
        async with asyncio.timeout(20):
            while len(read_journal(tmp_path / "a")) < TURNS:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.6)
        stop_renewing(gateway)
        slow.back.set()
        await slow.lost.wait()
        await slow._redis.zadd(slow._leases_key(""), {job: 1})
        await slow._redis.zadd(slow._all_leases_key, {job: 1})
        async with second as (b, _), Client(b) as other:
            whole = [event async for event in other.events(job)]
    assert fold(whole).stop_reason == "answered"
    assert finished(whole) == [(0, turn) for turn in range(TURNS)]
    assert [start.turn for start in read_journal(tmp_path / "b")] == [1, 2, 3], "turn 0 was finished"


class Stopped(RedisRunStore):
    """A store whose gateway is stopped after it took a key, and before it opened the log, until `goes_on`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.has_key = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def open(self, meta, **limits):
        self.has_key.set()
        await self.goes_on.wait()
        return await super().open(meta, **limits)


async def test_a_gateway_paused_with_a_key_finds_the_request_begun_elsewhere_with_it(data_store, redis_url, tmp_path):
    prefix = f"test{random.getrandbits(32)}"
    stopped, other_store = Stopped(redis_url, 3600, prefix=prefix), RedisRunStore(redis_url, 3600, prefix=prefix)
    first = serving(args_of(tmp_path, "a", 0.1), stopped)
    second = serving(args_of(tmp_path, "b", 0.1), other_store)
    async with first as (a, gateway), second as (b, _), Client(a) as mine, Client(b) as other:
        submitting = asyncio.create_task(mine.submit(PHOTO, OPTIONS, key="k"))
        await stopped.has_key.wait()
        begun = await other.submit(PHOTO, OPTIONS, key="k")
        stopped.goes_on.set()
        assert await submitting == begun
        assert (await other.status(begun, wait_s=20)).status == "done"
        await idle(gateway)
    assert read_journal(tmp_path / "a") == []
    assert {start.request_id for start in read_journal(tmp_path / "b")} == {begun}


async def test_a_key_of_a_request_that_never_began_goes_to_exactly_one_of_its_waiters(data_store, stores, tmp_path):
    """All that wait find the key free at the same moment; who has it then may take a while to open its log."""
    names = [f"test{i}" for i in range(2)]
    first, second = (serving(args_of(tmp_path, name, 0.1), store) for name, store in zip(names, stores, strict=True))
    await stores[0].claim("\nk", IdempotencyClaim(request_id="loc_never", fingerprint="f"))
    for store in stores:
        store.open = slow_down(store.open)
    async with first as (a, _), second as (b, _), Client(a) as mine, Client(b) as other:
        jobs = await asyncio.gather(*(client.submit(PHOTO, OPTIONS, key="k") for client in (mine, other)))
        assert len(set(jobs)) == 1
        assert (await other.status(jobs[0], wait_s=20)).status == "done"
    begun = [start.request_id for name in names for start in read_journal(tmp_path / name)]
    assert set(begun) == {jobs[0]}


def slow_down(ask):
    async def asked(*args, **kwargs):
        await asyncio.sleep(0.4)
        return await ask(*args, **kwargs)

    return asked
