"""Run stores that lose, refuse or freeze, behind a real server: every stream has a declared end, no answer is made up,
and the service is well again when its store is.
"""

import asyncio
import base64
import json
import secrets
import stat
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis
from redis.exceptions import ReadOnlyError
from support.ports import free_port
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, ports_of, serving

from deployments.gateway.gateway import Gateway
from deployments.http.app import create_app
from deployments.observability.audit import AuditLog
from deployments.runstore import LogEntry, RunMeta, StoreUnavailable
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.sqlite import SQLiteRunStore
from tts.config import ScriptedEngine
from tts.toolkit.broker.sqlite_store import SqliteStore

pytestmark = pytest.mark.slow

SLOW = ScriptedEngine(turns=4, tokens_per_turn=8, turn_s=0.5)
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
KINDS = ("text/event-stream", "application/x-ndjson")


@pytest.fixture
def redis_url(tmp_path):
    with running_redis(tmp_path) as url:
        yield url


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("deployments.runstore.redis._PATIENCE_S", 1.0)
    monkeypatch.setattr("deployments.runstore.redis._SILENCE_S", 0.5)


async def harm_flush(redis):
    await redis.flushall()


async def harm_evict(redis):
    for key in await redis.keys("*:log"):
        await redis.delete(key)


async def harm_full(redis):
    await redis.config_set("maxmemory", 1)
    await redis.config_set("maxmemory-policy", "noeviction")


async def harm_replica(redis):
    await redis.execute_command("REPLICAOF", "127.0.0.1", free_port())


async def harm_freeze(redis):
    await redis.execute_command("CLIENT", "PAUSE", 8000, "ALL")


HARMS = [harm_flush, harm_evict, harm_full, harm_replica, harm_freeze]


async def stream(url, kind, harm=None, headers=None):
    """The types of a stream's events, when `harm` is done after the first of them."""
    seen = []
    async with (
        httpx.AsyncClient(timeout=60, headers=headers) as http,
        http.stream("POST", f"{url}/locate", **FORM, headers={"Accept": kind}) as reply,
    ):
        assert reply.status_code == 200
        async for line in reply.aiter_lines():
            text = line.removeprefix("data:").strip()
            if text.startswith("{"):
                seen.append(json.loads(text))
                if len(seen) == 1 and harm is not None:
                    await harm()
    return seen


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("kind", KINDS)
async def test_every_stream_has_a_declared_end(data_store, redis_url, harm, kind):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    async with serving(an_app(SLOW, lease_s=2.0), store) as (url, gateway), Redis.from_url(redis_url) as other:
        async with asyncio.timeout(30):
            events = await stream(url, kind, lambda: harm(other))
        assert [event["type"] for event in events[-2:]] == ["error", "done"]
        assert events[-2]["status"] == 503
        seqs = [event["seq"] for event in events]
        assert seqs == sorted(set(seqs))
        await idle(gateway)


async def chat(url, harm=None):
    """The data lines of a streamed chat completion, when `harm` is done after the first of them."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()}}
    body = {"model": "geotts", "messages": [{"role": "user", "content": [picture]}], "stream": True}
    seen = []
    async with (
        httpx.AsyncClient(timeout=60) as http,
        http.stream("POST", f"{url}/v1/chat/completions", json={**body, "geotts": {"n_parallel": 1}}) as reply,
    ):
        assert reply.status_code == 200
        async for line in reply.aiter_lines():
            if line.startswith("data:"):
                seen.append(line.removeprefix("data:").strip())
                if len(seen) == 1 and harm is not None:
                    await harm()
    return seen


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_a_chat_completion_has_a_declared_end_too(data_store, redis_url, harm):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    async with serving(an_app(SLOW, lease_s=2.0), store) as (url, gateway), Redis.from_url(redis_url) as other:
        async with asyncio.timeout(30):
            *_, failed, end = await chat(url, lambda: harm(other))
        assert end == "[DONE]"
        assert json.loads(failed)["error"]["code"] in ("store-unavailable", "log-lost")
        await idle(gateway)


async def damage(store):
    """What the log says from now on is no event."""
    found = store.read

    async def read(request_id, **options):
        async with aclosing(found(request_id, **options)) as entries:
            async for entry in entries:
                yield entry if entry is None or entry.seq == 1 else replace(entry, payload=b"damaged")

    store.read = read


async def fault(store):
    """A failure that nobody foresaw, as of a library below the store."""

    async def read(request_id, **options):
        raise ZeroDivisionError
        yield

    store.read = read


@pytest.mark.parametrize("harm", [damage, fault])
async def test_a_chat_completion_of_a_log_that_cannot_be_read_has_a_declared_end(data_store, harm):
    async with serving(an_app(SLOW)) as (url, gateway):
        await harm(gateway.store)
        async with asyncio.timeout(30):
            *_, failed, end = await chat(url)
        assert (end, "error" in json.loads(failed)) == ("[DONE]", True)
        await idle(gateway)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unexpected_failure_of_the_store_ends_a_stream_with_error_and_done(data_store, kind):
    async with serving(an_app(SLOW)) as (url, gateway):
        await fault(gateway.store)
        async with asyncio.timeout(30):
            events = await stream(url, kind)
        assert [event["type"] for event in events] == ["error", "done"]
        await idle(gateway)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_a_reply_is_the_answer_or_a_problem(data_store, redis_url, harm):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    async with (
        serving(an_app(SLOW, lease_s=2.0), store) as (url, gateway),
        Redis.from_url(redis_url) as other,
        httpx.AsyncClient(timeout=60) as http,
    ):
        asked = asyncio.create_task(http.post(f"{url}/locate", **FORM))
        while not gateway.admission.working:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await harm(other)
        reply = await asked
        assert reply.status_code == 503 or reply.json()["answer"]
        await idle(gateway)


@pytest.mark.parametrize(("harm", "reason"), [(harm_full, "full"), (harm_replica, "read-only")])
async def test_readiness_and_refusals_name_what_is_wrong_with_the_store(data_store, redis_url, harm, reason):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    async with (
        serving(an_app(), store) as (url, _),
        Redis.from_url(redis_url) as other,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await harm(other)
        ready = await http.get(f"{url}/readyz")
        assert ready.status_code == 503
        assert reason in ready.json()["checks"]["store"]
        refused = await http.post(f"{url}/locate", **FORM)
        assert (refused.status_code, reason in refused.json()["detail"]) == (503, True)


async def test_readiness_writes_at_most_once_in_five_seconds(data_store, redis_url):
    store = RedisRunStore(redis_url, 3600, prefix=secrets.token_hex(4))
    async with (
        serving(an_app(), store) as (url, _),
        Redis.from_url(redis_url) as other,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await asyncio.gather(*(http.get(f"{url}/readyz") for _ in range(20)))
        writes = (await other.info("commandstats")).get("cmdstat_set", {}).get("calls", 0)
        assert writes == 1
        assert await other.dbsize() == 0


async def test_reading_a_log_with_lost_entries_raises_an_error(redis_url):
    store = RedisRunStore(redis_url, 3600)
    meta = RunMeta(request_id="loc_1")
    await store.open(meta, lease_s=60)
    await store.append("loc_1", [LogEntry(1, "text", b"{}")])
    await store.close(meta)
    async with Redis.from_url(redis_url) as other:
        await harm_evict(other)
    with pytest.raises(StoreUnavailable, match="gone"):
        await anext(aiter(store.read("loc_1")))
    await store.aclose()


async def test_an_append_that_redis_refuses_is_an_error(redis_url):
    store = RedisRunStore(redis_url, 3600)
    await store.open(RunMeta(request_id="loc_1"), lease_s=60)
    async with Redis.from_url(redis_url) as other:
        await harm_full(other)
        with pytest.raises(StoreUnavailable, match="full"):
            await store.append("loc_1", [LogEntry(1, "text", b"{}")])
        await other.config_set("maxmemory", 0)
        await harm_replica(other)
        with pytest.raises(StoreUnavailable, match="read-only") as refused:
            await store.append("loc_1", [LogEntry(1, "text", b"{}")])
        assert isinstance(refused.value.__cause__, ReadOnlyError)
        await other.execute_command("REPLICAOF", "NO", "ONE")
    await store.append("loc_1", [LogEntry(1, "text", b"{}")])
    await store.aclose()


async def no_room(store):
    """As a full disk: SQLite gets no further page."""

    def fill(db):
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")

    await store._run_in_thread(fill)


async def room(store):
    await store._run_in_thread(lambda db: db.execute("PRAGMA max_page_count = 1000000"))


async def test_a_full_disk_is_reported_and_the_service_recovers(data_store, tmp_path):
    store = SQLiteRunStore(tmp_path / "store" / "runs.sqlite", 3600)
    args = an_app(SLOW, lease_s=1.0)
    async with serving(args, store) as (url, gateway), httpx.AsyncClient(timeout=60) as http:
        events = await stream(url, KINDS[0], lambda: no_room(store))
        assert [event["type"] for event in events[-2:]] == ["error", "done"]
        refused = await http.post(f"{url}/locate", **FORM)
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:geotts:problem:store-unavailable")
        assert "full" in refused.json()["detail"]
        ready = await http.get(f"{url}/readyz")
        assert ready.status_code == 503
        assert "full" in ready.json()["checks"]["store"]
        await room(store)
        assert (await http.post(f"{url}/locate", **FORM)).status_code == 200
        await asyncio.sleep(5.0)
        assert (await http.get(f"{url}/readyz")).status_code == 200
        await idle(gateway)


async def test_a_reader_of_an_erased_request_gets_an_error_and_the_end(data_store):
    async with serving(an_app(SLOW)) as (url, gateway), httpx.AsyncClient(timeout=60) as http:

        async def erase():
            (request_id,) = gateway._runner._jobs
            await gateway.store.erase(request_id)

        events = await stream(url, KINDS[0], erase)
        assert [event["type"] for event in events[-2:]] == ["error", "done"]
        assert (await http.get(f"{url}/healthz")).status_code == 200


async def test_files_and_folders_of_stores_are_private_to_their_owner(tmp_path):
    runs = SQLiteRunStore(tmp_path / "a" / "b" / "runs.sqlite", 3600)
    await runs.open(RunMeta(request_id="loc_1"), lease_s=60)
    cache = SqliteStore(tmp_path / "c" / "tools.sqlite")
    try:
        for path in tmp_path.rglob("*"):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path
    finally:
        await runs.aclose()
        await cache.aclose()


async def test_store_files_of_earlier_releases_become_private_to_their_owner(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch(0o644)
    runs = SQLiteRunStore(path, 3600)
    await runs.ping()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await runs.aclose()


async def test_fields_and_events_of_a_newer_release_are_passed_over(data_store, redis_url):
    store = RedisRunStore(redis_url, 3600, prefix="mixed")
    async with (
        serving(an_app(), store) as (url, _),
        Redis.from_url(redis_url) as other,
        httpx.AsyncClient(timeout=60) as http,
    ):
        job = (await http.post(f"{url}/locate", **FORM)).json()["request_id"]
        key = f"mixed:v1:run:{job}"
        meta = json.loads(await other.hget(f"{key}:meta", "meta"))
        await other.hset(f"{key}:meta", "meta", json.dumps({**meta, "added_later": {"a": 1}}))
        await other.xadd(f"{key}:log", {"kind": "added_later", "payload": b'{"type":"added_later"}'}, id="9999-0")
        reply = await http.get(f"{url}/locate/{job}")
        assert (reply.status_code, reply.json()["status"]) == (200, "done")
        assert (await http.get(f"{url}/locate/{job}/events")).status_code == 200
        await other.hset(f"{key}:meta", "meta", b"damaged")
        reply = await http.get(f"{url}/locate/{job}")
        assert (reply.status_code, reply.json()["type"]) == (503, "urn:geotts:problem:store-unavailable")


async def test_an_audit_log_that_is_full_refuses_requests_and_leaks_none(data_store):
    args = an_app(max_in_flight=3)
    audit = AuditLog(Path("/dev/full"), args)
    gateway = Gateway(args, ports_of(args), observers=[audit])
    transport = httpx.ASGITransport(create_app(gateway, args), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        for _ in range(5):
            reply = await http.post("/locate", **FORM)
            assert (reply.status_code, reply.json()["type"]) == (503, "urn:geotts:problem:audit-unavailable")
    assert gateway.in_flight == 0
    await gateway.aclose()
    audit.close()


async def test_a_redis_store_closes_whatever_its_listener_is_doing(redis_url, monkeypatch):
    """The Redis client may forget a cancellation that comes while it connects, subscribes or pings."""
    monkeypatch.setattr("deployments.runstore.redis._SILENCE_S", 0.001)
    for i in range(300):
        store = RedisRunStore(redis_url, 3600)
        store._channel.listen()
        await asyncio.sleep(i % 60 / 10_000)
        async with asyncio.timeout(10):
            await store.aclose()
