"""What every store of the broker owes it: memory, SQLite, Redis."""

import asyncio
import contextlib
import random
import sqlite3
import sys
import time

import pytest
from support.local_redis import local_redis

from tts.domain.geo import LatLon
from tts.domain.tooling import ImageRef, PlaceFact, WebFact
from tts.errors import ConfigError, ToolErrorKind
from tts.ports.toolbox import Attachment
from tts.toolkit.broker import sqlite_store
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.cache_store import Rate, StoreError
from tts.toolkit.broker.open_store import open_store
from tts.toolkit.spec import Observation


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with local_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def opened(request, tmp_path):
    """Opens the same store, as often as wanted: each time as another process would."""
    stores = []
    if request.param == "memory":
        shared = open_store("memory:")
        yield lambda: shared
        return
    url = request.getfixturevalue("redis_url") if request.param == "redis" else f"sqlite:///{tmp_path}/c.sqlite"

    def another():
        stores.append(open_store(url))
        return stores[-1]

    yield another
    for store in stores:
        await store.aclose()


@pytest.fixture
def store(opened):
    return opened()


def an_entry(text="Coimbra", *, ttl_s=60.0, photos=(), data=b"\x89PNG\x00\xff" * 100):
    seen = Observation(
        text=text,
        facts=(
            PlaceFact(id="a", name="Coimbra", point=LatLon(lat=40.2, lon=-8.4)),
            WebFact(number=1, title="T", url="https://example.com"),
        ),
        images=(ImageRef(sha256="f" * 64, width=3, height=2, media_type="image/png"),),
        attachments=(Attachment(sha256="f" * 64, media_type="image/png", data=data),),
    )
    return Entry(time.time(), ttl_s, 0.0, "2026-01-01T00:00:00Z", observation=seen, photos=tuple(photos))


async def test_a_stored_entry_and_its_pictures_can_be_read_in_every_process(opened):
    entry = an_entry()
    await opened().put("k-back", entry)
    assert await opened().get("k-back") == entry
    assert await opened().get("k-none") is None


async def test_a_stored_refusal_is_read_back_as_a_refusal(store):
    refusal = Entry(time.time(), 60.0, 0.0, "", refusal=(ToolErrorKind.NOT_FOUND, "nothing there"))
    await store.put("k-refusal", refusal)
    assert await store.get("k-refusal") == refusal


@pytest.mark.slow
async def test_an_entry_is_gone_after_its_time_to_live(store):
    entry = an_entry(ttl_s=2.0)
    await store.put("k-short", entry)
    found = await store.get("k-short")
    assert found is not None or time.time() > entry.at + 2.0
    await asyncio.sleep(2.1)
    assert await store.get("k-short") is None


async def test_a_single_caller_gets_the_lease_and_only_this_caller_can_release_it(opened):
    tokens = await asyncio.gather(*(opened().lease("k-lease", 30.0) for _ in range(8)))
    (token,) = [token for token in tokens if token]
    store = opened()
    await store.release("k-lease", "somebody else")
    assert await store.lease("k-lease", 30.0) is None
    await store.release("k-lease", token)
    assert await store.lease("k-lease", 30.0)


@pytest.mark.slow
async def test_a_lease_ends_by_itself(store):
    since = time.monotonic()
    assert await store.lease("k-dead", 2.0)
    second = await store.lease("k-dead", 2.0)
    assert second is None or time.monotonic() - since > 2.0
    await asyncio.sleep(2.1)
    assert await store.lease("k-dead", 2.0)


async def test_clients_of_one_store_share_the_rate_limit(opened):
    rate = Rate(per_s=2.0, burst=3.0)
    waits = [await opened().take("b-shared", rate, max_wait_s=10.0) for _ in range(5)]
    assert waits[:3] == [0.0, 0.0, 0.0]
    assert 0.2 < waits[3] <= 0.5
    assert 0.7 < waits[4] <= 1.0


async def test_a_refused_wait_takes_nothing_from_the_rate_limit(store):
    rate = Rate(per_s=1.0)
    assert await store.take("b-full", rate, max_wait_s=0.1) == 0.0
    for _ in range(3):
        assert -1.0 <= await store.take("b-full", rate, max_wait_s=0.1) < -0.5


async def test_forgetting_a_photo_removes_every_entry_that_used_it(opened):
    store = opened()
    await store.put("k-p1", an_entry(photos=["p1"]))
    await store.put("k-p12", an_entry(photos=["p1", "p2"]))
    await store.put("k-p2", an_entry(photos=["p2"]))
    assert await opened().forget("p1") == 2
    assert await store.get("k-p1") is None
    assert await store.get("k-p2") is not None
    assert await store.forget("p1") == 0


async def test_forgetting_a_photo_finds_long_kept_entries_after_shorter_ones_expired(opened):
    store = opened()
    await store.put("k-long", an_entry(photos=["p-long"]))
    await store.put("k-short", an_entry(photos=["p-long"], ttl_s=0.05))
    await asyncio.sleep(0.2)
    assert await store.forget("p-long") >= 1
    assert await store.get("k-long") is None


async def test_a_purge_removes_expired_entries_only(opened):
    store = opened()
    await store.put("k-over", an_entry(ttl_s=0.05))
    await store.put("k-good", an_entry())
    await asyncio.sleep(0.1)
    await opened().purge()
    assert await store.get("k-over") is None
    assert await store.get("k-good") is not None


@pytest.mark.parametrize("end", ["forgotten", "past its time"])
async def test_erased_results_are_in_no_byte_of_the_sqlite_file_or_its_log(tmp_path, end):
    store = open_store(f"sqlite:///{tmp_path}/c.sqlite")
    there = lambda: any(b"a telling result" in path.read_bytes() for path in tmp_path.iterdir())  # noqa: E731
    await store.put("k", an_entry("a telling result", photos=["p1"], ttl_s=60.0 if end == "forgotten" else 0.05))
    assert there()
    if end == "forgotten":
        await store.forget("p1")
    else:
        await asyncio.sleep(0.1)
        await store.purge()
    assert not there()
    await store.aclose()


@pytest.mark.parametrize("seed", range(40))
async def test_no_copy_of_an_erased_result_is_left_where_the_database_moved_rows(tmp_path, seed):
    """With `secure_delete` alone, 5 of 60 such files kept one."""
    draw = random.Random(seed)
    stores = [open_store(f"sqlite:///{tmp_path}/c.sqlite") for _ in range(2)]
    photos = ["a-telling-photo", "another-photo"] * 30
    draw.shuffle(photos)
    for photo in photos:
        entry = an_entry(photos=[photo], data=draw.randbytes(draw.randint(1, 300)))
        await draw.choice(stores).put(draw.randbytes(32).hex(), entry)
    assert await stores[0].forget("a-telling-photo") == 30
    assert not any(b"a-telling-photo" in path.read_bytes() for path in tmp_path.iterdir())
    assert await stores[1].forget("another-photo") == 30
    for store in stores:
        await store.aclose()


async def test_an_erasure_that_a_crash_cut_off_is_completed_by_the_next_purge(tmp_path):
    path = tmp_path / "c.sqlite"
    store = open_store(f"sqlite:///{path}")
    await store.put("k", an_entry("Coimbra-secret", photos=["p1"]))
    with sqlite3.connect(path) as other:  # secure_delete is off in this connection
        other.execute("DELETE FROM entries")
        other.execute("INSERT INTO remains DEFAULT VALUES")
    other.close()
    assert any(b"Coimbra-secret" in file.read_bytes() for file in tmp_path.iterdir())
    await store.purge()
    assert not any(b"Coimbra-secret" in file.read_bytes() for file in tmp_path.iterdir())
    await store.aclose()


HOLD = """
import fcntl, sys
with open(sys.argv[1], "r+b") as shared:
    fcntl.lockf(shared, fcntl.LOCK_EX, 1, 121)
    print("held", flush=True)
    sys.stdin.read()
"""  # byte 121 of the shared memory is SQLite's lock on moving the log


def move_log_into(path):
    """Move what is in the write-ahead log into the file itself."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextlib.asynccontextmanager
async def while_another_process_moves_the_log(path):
    command = (sys.executable, "-c", HOLD, f"{path}-shm")
    holder = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert await holder.stdout.readline() == b"held\n"
        yield
    finally:
        holder.kill()
        await holder.wait()


async def test_an_erasure_waits_for_another_process_that_moves_the_log(tmp_path):
    path = tmp_path / "c.sqlite"
    store = open_store(f"sqlite:///{path}")
    await store.put("k", an_entry("Coimbra-secret", photos=["p1"]))
    move_log_into(path)
    assert b"Coimbra-secret" in path.read_bytes()
    async with while_another_process_moves_the_log(path):
        erased = asyncio.create_task(store.forget("p1"))
        await asyncio.sleep(0.3)
        assert not erased.done()
    assert await erased == 1
    assert b"Coimbra-secret" not in path.read_bytes()
    await store.aclose()


async def test_an_erasure_that_cannot_reach_the_file_fails_and_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "_CLEAR_TIMEOUT_S", 0.1)
    path = tmp_path / "c.sqlite"
    store = open_store(f"sqlite:///{path}")
    await store.put("k", an_entry("Coimbra-secret", photos=["p1"]))
    move_log_into(path)
    async with while_another_process_moves_the_log(path):
        with pytest.raises(StoreError, match="what was erased may still be in its file"):
            await store.forget("p1")
    await store.forget("p1")
    assert b"Coimbra-secret" not in path.read_bytes()
    await store.aclose()


async def test_a_torn_or_foreign_entry_is_read_as_no_entry():
    whole = an_entry().encode()
    for cut in (0, 3, 10, len(whole) - 1):
        assert Entry.decode(whole[:cut]) is None
    assert Entry.decode(whole.replace(b'"v":1', b'"v":9')) is None
    assert Entry.decode(b"\xff" * 50) is None


async def test_a_store_that_cannot_be_reached_raises_a_store_error(tmp_path):
    store = open_store("redis://127.0.0.1:1/0")
    with pytest.raises(StoreError):
        await store.get("k")
    await store.aclose()
    (tmp_path / "not-a-folder").write_text("")
    with pytest.raises(StoreError):
        open_store(f"sqlite:///{tmp_path}/not-a-folder/c.sqlite")


async def test_a_cache_file_of_another_version_is_emptied(tmp_path):
    import sqlite3

    url = f"sqlite:///{tmp_path}/c.sqlite"
    store = open_store(url)
    await store.put("k", an_entry())
    await store.aclose()
    with contextlib.closing(sqlite3.connect(tmp_path / "c.sqlite")) as raw:
        raw.execute("PRAGMA user_version = 99")
        raw.commit()
    store = open_store(url)
    assert await store.get("k") is None
    await store.aclose()


@pytest.mark.parametrize("url", ["", "postgres://x", "sqlite://relative", "/tmp/x"])
def test_a_cache_url_of_an_unknown_kind_is_refused(url):
    with pytest.raises(ConfigError):
        open_store(url)
