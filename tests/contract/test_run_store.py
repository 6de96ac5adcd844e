"""What every run store promises, whatever it is made of."""

import asyncio
import random
import secrets
import tracemalloc

import orjson
import pytest
from redis.asyncio import Redis
from support.basics import leftover_tasks
from support.ports import free_port
from support.redis_server import running_redis

from deployments.runstore import (
    CaseRecord,
    IdempotencyClaim,
    KeyTaken,
    LogEntry,
    MemoryRunStore,
    RunMeta,
    RunStore,
    StoreUnavailable,
    open_store,
)
from deployments.runstore.blobs import open_blobs
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.sqlite import SQLiteRunStore
from deployments.runstore.with_blobs import RunStoreWithBlobs
from tts.domain.outgoing_request import Outgoing
from tts.errors import ConfigError
from tts.ports.toolbox import Attachment

KINDS = ("memory", "sqlite", "redis", "memory and a folder", "redis and a url")
PICTURE = Attachment(sha256="ab" * 32, media_type="image/png", data=b"\x89PNG" + secrets.token_bytes(64))


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=KINDS)
async def store(request, tmp_path):
    made: RunStore
    if request.param == "memory":
        made = MemoryRunStore(3600)
    elif request.param == "memory and a folder":
        made = RunStoreWithBlobs(MemoryRunStore(3600), open_blobs(str(tmp_path / "blobs")), 3600)
    elif request.param == "redis and a url":
        redis = RedisRunStore(request.getfixturevalue("redis_url"), 3600, prefix=secrets.token_hex(4))
        made = RunStoreWithBlobs(redis, open_blobs(f"memory://{secrets.token_hex(4)}"), 3600)
    elif request.param == "sqlite":
        made = SQLiteRunStore(tmp_path / "runs.sqlite", 3600)
    else:
        made = RedisRunStore(request.getfixturevalue("redis_url"), 3600, prefix=secrets.token_hex(4))
    yield made
    await made.aclose()
    assert leftover_tasks() == []


def a_run(name="loc_1", **fields):
    return RunMeta(request_id=name, **fields)


def entries(*seqs):
    return [LogEntry(seq, "text", b'{"seq":%d}' % seq) for seq in seqs]


async def seqs_of(store, name, **how):
    return [entry.seq async for entry in store.read(name, **how) if entry is not None]


async def test_appended_entries_are_read_in_order(store):
    assert await store.open(a_run(), lease_s=60)
    await store.append("loc_1", entries(1, 2))
    await store.append("loc_1", entries(3))
    await store.close(a_run())
    found = [entry async for entry in store.read("loc_1")]
    assert found == entries(1, 2, 3)
    assert await seqs_of(store, "loc_1", after=2) == [3]
    assert await seqs_of(store, "loc_1", after=99) == []
    assert await seqs_of(store, "loc_unknown") == []


async def test_the_metadata_of_a_request_can_be_read_until_the_request_is_erased(store):
    outgoing = Outgoing(at="2026-01-01T00:00:00Z", host="h", method="GET", url="http://h/p", bytes_sent=0)
    run = a_run(tenant="desk", photos=("ab" * 32,), fetched=(outgoing, outgoing))
    await store.open(run, lease_s=60)
    assert await store.meta("loc_1") == run
    await store.close(run)
    assert await store.meta("loc_1") == run
    assert await store.erase("loc_1")
    assert await store.meta("loc_1") is None


async def test_long_logs_come_whole(store):
    await store.open(a_run(), lease_s=60)
    await store.append("loc_1", entries(*range(1, 1001)))
    await store.close(a_run())
    assert await seqs_of(store, "loc_1") == list(range(1, 1001))


async def test_waiting_readers_get_every_entry_that_is_appended(store):
    await store.open(a_run(), lease_s=60)

    async def write():
        for seq in range(1, 21):
            await store.append("loc_1", entries(seq))
            await asyncio.sleep(0.002)
        await store.close(a_run())

    async with asyncio.TaskGroup() as group:
        readers = [group.create_task(seqs_of(store, "loc_1")) for _ in range(5)]
        group.create_task(write())
    assert all(reader.result() == list(range(1, 21)) for reader in readers)


async def test_a_request_without_a_valid_lease_is_taken_over_once(store):
    await store.open(a_run(), lease_s=60)
    assert not await store.take_over(a_run(), lease_s=60)
    assert await store.renew([a_run()], lease_s=0.2) == []
    await asyncio.sleep(1.2)
    assert sorted([await store.take_over(a_run(), lease_s=60) for _ in range(3)]) == [False, False, True]
    assert await store.last_seq_without_lease("loc_1") is None
    assert await store.close(a_run())
    assert not await store.take_over(a_run(), lease_s=60)
    assert not await store.take_over(a_run("loc_unknown"), lease_s=60)


async def test_another_gateway_finds_abandoned_requests_and_their_checkpoints(redis_url):
    lost, other = (RedisRunStore(redis_url, 3600, prefix="abandoned") for _ in range(2))
    await lost.open(a_run(tenant="desk"), lease_s=0.1)
    for data in (b"first", b"last"):
        await lost.save("loc_1", "checkpoint/0", data)
    assert await other.requests_without_lease(for_s=5) == []
    await asyncio.sleep(1.2)
    assert await other.requests_without_lease(for_s=0) == ["loc_1"]
    assert await other.saved_files("loc_1") == {"checkpoint/0": b"last"}
    assert await other.take_over(a_run(tenant="desk"), lease_s=60)
    assert await other.requests_without_lease(for_s=0) == []
    assert await lost.renew([a_run(tenant="desk")], lease_s=60) == ["loc_1"]
    await lost.append("loc_1", entries(1))
    await lost.save("loc_1", "checkpoint/0", b"late")
    assert not await lost.close(a_run(tenant="desk"))
    await other.append("loc_1", entries(2))
    assert await other.saved_files("loc_1") == {"checkpoint/0": b"last"}
    assert await other.close(a_run(tenant="desk"))
    assert await seqs_of(lost, "loc_1") == [2]
    assert await other.saved_files("loc_1") == {}
    await lost.aclose()
    await other.aclose()


async def test_an_idle_reader_gets_none_until_an_entry_is_appended(store):
    await store.open(a_run(), lease_s=60)
    reader = store.read("loc_1", idle_s=0.02)
    assert await anext(reader) is None
    await store.append("loc_1", entries(1))
    assert (await anext(reader)).seq == 1
    assert await anext(reader) is None
    await reader.aclose()


async def test_an_entry_that_is_not_above_the_last_is_dropped(store):
    await store.open(a_run(), lease_s=60)
    await store.append("loc_1", entries(1, 2, 3))
    await store.append("loc_1", [LogEntry(2, "late", b"{}"), *entries(4)])
    await store.close(a_run())
    assert [entry.kind async for entry in store.read("loc_1")] == ["text"] * 4


async def test_the_memory_store_keeps_short_events_in_little_memory():
    """What orjson returns keeps its buffer of 4 KB, however short it is; a log holds hundreds of short events."""
    store = MemoryRunStore(3600)
    await store.open(a_run(), lease_s=60)
    tracemalloc.start()
    for seq in range(1, 501):
        await store.append("loc_1", [LogEntry(seq, "text", orjson.dumps({"seq": seq, "text": "a few words"}))])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 500 * 400


async def test_a_file_is_kept_with_its_request_and_known_by_its_hash(store):
    await store.open(a_run(), lease_s=60)
    await store.attach("loc_1", PICTURE)
    assert await store.file("loc_1", PICTURE.sha256) == PICTURE
    assert await store.file("loc_1", "00" * 32) is None
    assert await store.file("loc_2", PICTURE.sha256) is None


async def test_the_metadata_of_a_request_names_its_tenant_and_key(store):
    meta = a_run(tenant="desk", grace_s=2.5, photos=("aa",), claim="k")
    await store.claim("k", IdempotencyClaim(request_id="loc_1", fingerprint="f"))
    await store.open(meta, lease_s=60)
    assert await store.meta("loc_1") == meta
    assert await store.is_open("loc_1")
    await store.close(meta)
    assert not await store.is_open("loc_1")
    assert await store.meta("loc_unknown") is None


async def test_a_gateway_that_was_thought_dead_adds_nothing_after_the_end(store):
    run = a_run()
    await store.open(run, lease_s=60)
    await store.append("loc_1", entries(1))
    assert await store.renew([run], lease_s=60) == []
    await store.close(run)
    await store.append("loc_1", entries(2))
    assert await seqs_of(store, "loc_1") == [1]
    assert await store.renew([run], lease_s=60) == ["loc_1"], "it is told to stop"


async def test_an_erased_request_stays_erased(store):
    meta = a_run(claim="desk:key")
    await store.claim("desk:key", IdempotencyClaim(request_id="loc_1", fingerprint="f"))
    await store.open(meta, lease_s=60)
    await store.append("loc_1", entries(1))
    await store.attach("loc_1", PICTURE)
    assert await store.erase("loc_1")
    await store.append("loc_1", entries(2))
    await store.attach("loc_1", PICTURE)
    await store.close(meta)
    assert await seqs_of(store, "loc_1") == []
    assert await store.file("loc_1", PICTURE.sha256) is None
    assert await store.meta("loc_1") is None
    assert await store.claim("desk:key", IdempotencyClaim(request_id="loc_2", fingerprint="g")) is None
    assert not await store.erase("loc_1")


async def test_erasing_a_request_ends_its_readers(store):
    await store.open(a_run(), lease_s=60)
    async with asyncio.TaskGroup() as group:
        reader = group.create_task(seqs_of(store, "loc_1"))
        await asyncio.sleep(0.01)
        await store.erase("loc_1")
    assert reader.result() == []


async def test_a_key_is_claimed_once(store):
    first, second = (IdempotencyClaim(request_id=f"loc_{i}", fingerprint="f") for i in (1, 2))
    got = await asyncio.gather(*(store.claim("k", claim) for claim in (first, second)))
    assert sorted(claim is None for claim in got) == [False, True]
    held = await store.claim("k", second)
    assert held == (first if got[0] is None else second)
    await store.release("k", "loc_other")
    assert await store.claim("k", second) == held
    await store.release("k", held.request_id)
    assert await store.claim("k", second) is None


async def test_a_request_is_opened_only_while_it_has_its_key(store):
    run = a_run("loc_1", claim="k")
    with pytest.raises(KeyTaken):
        await store.open(run, lease_s=60)
    await store.claim("k", IdempotencyClaim(request_id="loc_2", fingerprint="f"))
    with pytest.raises(KeyTaken):
        await store.open(run, lease_s=60, max_open=1)
    assert await store.meta("loc_1") is None
    await store.release("k", "loc_2")
    await store.claim("k", IdempotencyClaim(request_id="loc_1", fingerprint="f"))
    assert await store.open(run, lease_s=60, max_open=1), "what was refused counts for nothing"


async def test_erasing_a_request_leaves_the_key_that_another_holds_by_now(store):
    first, second = (IdempotencyClaim(request_id=f"loc_{i}", fingerprint="f") for i in (1, 2))
    await store.claim("k", first)
    await store.open(a_run("loc_1", claim="k"), lease_s=60)
    await store.release("k", "loc_1")
    await store.claim("k", second)
    await store.open(a_run("loc_2", claim="k"), lease_s=60)
    assert await store.erase("loc_1")
    assert await store.claim("k", IdempotencyClaim(request_id="loc_3", fingerprint="f")) == second
    assert await store.erase("loc_2")
    assert await store.claim("k", IdempotencyClaim(request_id="loc_3", fingerprint="f")) is None


async def test_a_cancellation_in_the_moment_of_the_answer_is_not_lost(redis_url):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    lost = 0
    for i in range(400):
        task = asyncio.create_task(store.attach("loc_1", PICTURE))
        for _ in range(i % 12):
            await asyncio.sleep(0)
        await asyncio.sleep((i % 40) * 2e-5)
        lost += task.cancel() and not (await asyncio.wait([task]))[0].pop().cancelled()
    await store.aclose()
    assert lost == 0


async def test_a_log_without_lease_is_orphaned(store):
    await store.open(a_run(), lease_s=1.0)
    assert await store.last_seq_without_lease("loc_1") is None
    await store.append("loc_1", entries(1, 2))
    await asyncio.sleep(1.05)
    assert await store.last_seq_without_lease("loc_1") == 2
    await store.renew([a_run()], lease_s=60)
    assert await store.last_seq_without_lease("loc_1") is None
    await store.close(a_run())
    assert await store.last_seq_without_lease("loc_1") is None
    assert await store.last_seq_without_lease("loc_unknown") is None


async def test_a_tenant_may_have_only_so_many_requests_open_at_once(store):
    for i in range(2):
        assert await store.open(a_run(f"loc_{i}", tenant="a"), lease_s=60, max_open=2)
    assert not await store.open(a_run("loc_2", tenant="a"), lease_s=60, max_open=2)
    assert await store.meta("loc_2") is None
    assert await store.open(a_run("loc_3", tenant="b"), lease_s=60, max_open=2)
    await store.close(a_run("loc_0", tenant="a"))
    assert await store.open(a_run("loc_2", tenant="a"), lease_s=60, max_open=2)


async def test_the_time_a_request_waits_for_readers_is_extended_and_never_shortened(store):
    await store.open(a_run(), lease_s=60)
    assert await store.attended_s("loc_1") == 0
    await store.attend("loc_1", 100)
    await store.attend("loc_1", 1)
    assert 50 < await store.attended_s("loc_1") <= 100
    await store.attend("loc_unknown", 10)
    assert await store.attended_s("loc_unknown") == 0


async def test_a_cancel_reaches_the_gateway_that_works(store):
    await store.open(a_run(), lease_s=60)
    cancels = store.cancels()
    async with asyncio.TaskGroup() as group:
        first_cancel = group.create_task(anext(cancels))
        await asyncio.sleep(0.2)  # a subscription takes a moment; a cancel that is missed is seen with the next renewal
        await store.ask_cancel("loc_1")
        assert await asyncio.wait_for(first_cancel, 20) == "loc_1"
    await store.open(a_run("loc_2"), lease_s=60)
    assert list(await store.renew([a_run(), a_run("loc_2")], lease_s=60)) == ["loc_1"]
    await cancels.aclose()


async def test_renewing_names_the_requests_that_were_erased(store):
    for name in ("loc_1", "loc_2"):
        await store.open(a_run(name), lease_s=60)
    await store.erase("loc_1")
    assert list(await store.renew([a_run(), a_run("loc_2")], lease_s=60)) == ["loc_1"]


async def test_a_rate_limit_allows_its_burst_and_then_its_rate(store):
    waits = [await store.take("desk", per_minute=1, burst=3) for _ in range(4)]
    assert waits[:3] == [0, 0, 0]
    assert 0 < waits[3] <= 60
    assert await store.take("other", per_minute=1, burst=3) == 0
    for _ in range(5):
        assert await store.take("quick", per_minute=6000, burst=1) == 0
        await asyncio.sleep(0.02)


async def test_a_store_answers_a_ping_and_can_purge(store):
    await store.ping()
    await store.purge()


@pytest.mark.parametrize("url", ["", "mysql://x", "sqlite:runs.db"])
def test_a_run_store_url_of_an_unknown_kind_is_refused(url):
    with pytest.raises(ConfigError, match="no run store"):
        open_store(url, 1)


async def test_a_silent_redis_delays_writers_and_readers_and_refuses_new_requests(redis_url, monkeypatch):
    monkeypatch.setattr("deployments.runstore.redis._SILENCE_S", 0.3)
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    meta = a_run()
    assert await store.open(meta, lease_s=60)
    await store.append("loc_1", entries(1))
    async with Redis.from_url(redis_url) as other:
        await other.execute_command("CLIENT", "PAUSE", 1200, "ALL")
    reading = asyncio.create_task(seqs_of(store, "loc_1"))
    writing = asyncio.create_task(store.append("loc_1", entries(2, 3)))
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.open(a_run("loc_2"), lease_s=60)
    await writing
    await store.close(meta)
    assert await reading == [1, 2, 3]
    await store.aclose()


async def test_work_waits_for_a_redis_that_is_started_again(tmp_path):
    port = free_port()
    store = RedisRunStore(f"redis://127.0.0.1:{port}/0", 3600)
    writing = asyncio.create_task(store.append("loc_1", entries(1)))
    with pytest.raises(StoreUnavailable):
        await store.meta("loc_1")
    assert not writing.done()
    with running_redis(tmp_path, port):
        await writing
        await store.aclose()


async def test_an_outage_without_end_ends_the_work(monkeypatch):
    monkeypatch.setattr("deployments.runstore.redis._PATIENCE_S", 0.5)
    store = RedisRunStore("redis://127.0.0.1:1/0", 3600)
    with pytest.raises(StoreUnavailable):
        await store.append("loc_1", entries(1))
    await store.aclose()


def a_case(version=1, requests=(), **fields):
    return CaseRecord(case_id="case_1", version=version, requests=requests, body="{}", **fields)


async def test_a_case_is_saved_only_if_its_version_is_the_next_one(store):
    assert not await store.save_case(a_case(2), keep_s=60)
    assert await store.save_case(a_case(1, tenant="desk"), keep_s=60)
    assert not await store.save_case(a_case(1, tenant="desk"), keep_s=60)
    second = a_case(2, tenant="desk", requests=("loc_1",))
    assert await store.save_case(second, keep_s=60)
    assert await store.case("case_1") == second
    assert await store.case("case_2") is None
    assert list(await store.cases("desk")) == [second]
    assert list(await store.cases("press")) == []


async def test_an_erased_case_is_gone(store):
    await store.save_case(a_case(), keep_s=60)
    assert await store.erase_case("case_1")
    assert not await store.erase_case("case_1")
    assert await store.case("case_1") is None
    assert list(await store.cases("")) == []


async def test_a_case_is_gone_when_its_time_is_over(store):
    await store.save_case(a_case(), keep_s=1)
    await asyncio.sleep(1.2)
    assert await store.case("case_1") is None
    assert list(await store.cases("")) == []
    assert await store.save_case(a_case(1), keep_s=60)  # a new one


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when", ["before it ends", "after it has ended"])
async def test_the_requests_of_a_case_are_kept_with_it(kind, when, request, tmp_path):
    store: RunStore
    if kind == "memory":
        store = MemoryRunStore(1)
    elif kind == "sqlite":
        store = SQLiteRunStore(tmp_path / "runs.sqlite", 1)
    else:
        store = RedisRunStore(request.getfixturevalue("redis_url"), 1, prefix=secrets.token_hex(4))
    for name in ("loc_1", "loc_2"):
        await store.open(a_run(name), lease_s=60)
        await store.append(name, entries(1))
        await store.attach(name, PICTURE)
    if when == "before it ends":
        await store.save_case(a_case(requests=("loc_1",)), keep_s=60)
    await store.close(a_run("loc_1"))
    await store.close(a_run("loc_2"))
    if when == "after it has ended":
        await store.save_case(a_case(requests=("loc_1",)), keep_s=60)
    await asyncio.sleep(1.3)
    await store.purge()
    assert await store.meta("loc_2") is None
    assert await seqs_of(store, "loc_1") == [1]
    assert await store.file("loc_1", PICTURE.sha256) == PICTURE
    assert await store.erase("loc_1")
    assert await store.file("loc_1", PICTURE.sha256) is None
    await store.aclose()


async def test_a_reminder_is_given_once_when_it_is_due_and_again_until_it_is_settled(store):
    for name in ("loc_1", "loc_2"):
        await store.open(a_run(name), lease_s=30)
    await store.set_reminder("loc_1", 0.0)
    await store.set_reminder("loc_2", 60.0)
    await store.set_reminder("loc_never", 0.0)
    assert await store.reminders(again_s=0.1) == ["loc_1"]
    assert await store.reminders(again_s=0.1) == []
    await asyncio.sleep(0.15)
    assert await store.reminders(again_s=0.0) == ["loc_1"]
    await store.set_reminder("loc_1", None)
    await store.set_reminder("loc_2", 0.0)
    assert await store.reminders(again_s=0.0) == ["loc_2"]
    await store.erase("loc_2")
    assert await store.reminders(again_s=0.0) == []


@pytest.mark.parametrize("seed", range(12))
async def test_nothing_of_an_erased_request_is_in_a_byte_of_the_sqlite_file(tmp_path, seed):
    draw = random.Random(seed)
    store = SQLiteRunStore(tmp_path / "runs.sqlite", 3600)
    names = ("loc_erased", "loc_other")
    for name in names:
        await store.open(a_run(name), lease_s=60)
    owners = {seq: draw.choice(names) for seq in range(1, 60)}
    kept = [seq for seq, name in owners.items() if name == "loc_other"]
    for seq, name in owners.items():
        payload = name.encode() + draw.randbytes(draw.randint(1, 600)).hex().encode()
        await store.append(name, [LogEntry(seq, "text", payload)])
    await store.attach("loc_erased", PICTURE)
    assert await store.erase("loc_erased")
    await store.scrub()
    assert not [path.name for path in tmp_path.iterdir() if b"loc_erased" in path.read_bytes()]
    await store.close(a_run("loc_other"))
    assert await seqs_of(store, "loc_other") == kept
    await store.aclose()


async def test_scrubbing_changes_nothing_that_can_be_read(store):
    await store.open(a_run(), lease_s=60)
    await store.open(a_run("loc_2"), lease_s=60)
    await store.append("loc_1", entries(1, 2))
    await store.attach("loc_1", PICTURE)
    await store.erase("loc_2")
    await store.scrub()
    await store.append("loc_1", entries(3))
    await store.close(a_run())
    assert await seqs_of(store, "loc_1") == [1, 2, 3]
    assert await store.file("loc_1", PICTURE.sha256) == PICTURE
