"""Logs of requests that have ended, in Redis: smaller after some minutes, and the same to every reader."""

import secrets

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis
from support.redis_server import running_redis
from support.service import PHOTO, an_app, serving

from deployments.runstore import CaseRecord, LogEntry, RunMeta
from deployments.runstore.log_packing import pack_entries, unpack_entries
from deployments.runstore.redis import RedisRunStore
from tts.api.client import Client
from tts.config import ScriptedEngine
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold


def log_of(pieces):
    """Entries of a log from (rollout, text); None is an event that is no piece."""
    entries = []
    for seq, piece in enumerate(pieces, 1):
        if piece is None:
            entries.append(LogEntry(seq, "consensus", orjson.dumps({"type": "consensus", "seq": seq})))
        else:
            event = {"type": "text", "seq": seq, "rollout_id": piece[0], "turn": 0, "text": piece[1]}
            entries.append(LogEntry(seq, "text", orjson.dumps(event)))
    return entries


def texts(entries):
    text_by_rollout: dict[int, str] = {}
    for entry in entries:
        event = orjson.loads(entry.payload)
        if entry.kind == "text":
            text_by_rollout[event["rollout_id"]] = text_by_rollout.get(event["rollout_id"], "") + event["text"]
    return text_by_rollout


PIECES = st.lists(st.none() | st.tuples(st.integers(0, 1), st.text(min_size=1, max_size=4)), max_size=30)


@given(PIECES, st.data())
def test_a_reader_gets_the_rest_of_every_text_wherever_it_was_cut_off(pieces, data):
    entries = log_of(pieces)
    after = data.draw(st.integers(0, len(entries)))
    rest = unpack_entries(pack_entries(entries), after=after)
    assert texts(rest) == texts(entries[after:])
    assert [e.seq for e in rest if e.kind != "text"] == [e.seq for e in entries[after:] if e.kind != "text"]
    assert [entry.seq for entry in rest] == sorted({entry.seq for entry in rest})
    assert rest[-1:] == [] if after == len(entries) else rest[-1].seq == len(entries)


@given(PIECES)
def test_a_packed_log_read_in_pages_equals_the_log_read_at_once(pieces):
    value = pack_entries(log_of(pieces))
    found, position = [], 0
    while page := unpack_entries(value, after=position, most=3):
        found += page
        position = page[-1].seq
    assert found == unpack_entries(value)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.mark.slow
async def test_a_run_is_unchanged_and_takes_less_memory_after_its_log_is_packed(data_store, redis_url):
    prefix = secrets.token_hex(4)
    engine = ScriptedEngine(turns=3, tokens_per_turn=60, turn_s=0.4)
    store = RedisRunStore(redis_url, 3600, prefix=prefix, packed_after_s=0)
    async with serving(an_app(engine), store) as (url, _), Client(url) as client, Redis.from_url(redis_url) as redis:
        events = [event async for event in client.stream(PHOTO, LocateOptions(n_parallel=4))]
        job = events[0].request_id
        keys = [f"{prefix}:v1:run:{job}:{part}" for part in ("log", "packed")]
        before = await redis.memory_usage(keys[0], samples=0)
        await store.purge()
        assert await redis.exists(keys[0]) == 0
        after = await redis.memory_usage(keys[1])
        assert before is not None
        assert after is not None
        assert after < before / 3
        assert 3000 < await redis.ttl(keys[1]) <= 3600
        again = [event async for event in client.events(job)]
        assert len(again) <= len(events)
        assert fold(again) == fold(events)
        half = events[len(events) // 2].seq
        rest = [event async for event in client.events(job, after=half)]
        assert texts_of(rest) == texts_of(events[half:])
        assert (await client.status(job)).status == "done"
        assert (await client.cancel(job, erase=True)).erased
        assert await redis.exists(*keys) == 0


def texts_of(events):
    text_by_turn: dict[tuple[int, int], str] = {}
    for event in events:
        if event.type == "text":
            text_by_turn[event.rollout_id, event.turn] = (
                text_by_turn.get((event.rollout_id, event.turn), "") + event.text
            )
    return text_by_turn


@pytest.mark.slow
async def test_only_logs_ended_long_ago_are_packed_and_erased_logs_stay_erased(redis_url):
    prefix = secrets.token_hex(4)
    now = RedisRunStore(redis_url, 3600, prefix=prefix, packed_after_s=0)
    later = RedisRunStore(redis_url, 3600, prefix=prefix, packed_after_s=60)
    async with Redis.from_url(redis_url) as redis:
        for name, store in (("loc_a", now), ("loc_b", later), ("loc_c", now)):
            run = RunMeta(request_id=name)
            await store.open(run, lease_s=60)
            await store.append(name, log_of([(0, "x"), (0, "y"), None]))
            await store.close(run)
        assert await now.erase("loc_c")
        await later.purge()
        found = sorted(key.decode().rpartition(":run:")[2] for key in await redis.keys(f"{prefix}:*:run:*"))
        assert [name for name in found if name.endswith((":log", ":packed"))] == ["loc_a:packed", "loc_b:log"]
        assert [entry.seq async for entry in now.read("loc_a", after=1)] == [2, 3]
    for store in (now, later):
        await store.aclose()


@pytest.mark.slow
async def test_a_packed_log_is_kept_as_long_as_the_case_of_its_request(redis_url):
    prefix = secrets.token_hex(4)
    store = RedisRunStore(redis_url, 60, prefix=prefix, packed_after_s=0)
    run = RunMeta(request_id="loc_a")
    await store.open(run, lease_s=60)
    await store.append("loc_a", log_of([(0, "x")]))
    await store.close(run)
    await store.purge()
    assert await store.save_case(CaseRecord(case_id="c", version=1, requests=("loc_a",), body="{}"), keep_s=9000)
    async with Redis.from_url(redis_url) as redis:
        assert await redis.ttl(f"{prefix}:v1:run:loc_a:packed") > 8000
    await store.aclose()
