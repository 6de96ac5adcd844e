"""Bytes outside the run store: what every blob store promises, and what a request leaves there."""

import asyncio
import copy
import secrets
import stat

import httpx
import pytest
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, serving

from deployments.runstore import MemoryRunStore, RunMeta, StoreUnavailable, open_store
from deployments.runstore.blobs import FolderBlobs, open_blobs
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.with_blobs import RunStoreWithBlobs
from tts.api.client import Client
from tts.config import ScriptedEngine
from tts.domain.request import LocateOptions
from tts.errors import ConfigError
from tts.ports.toolbox import Attachment

pytestmark = pytest.mark.slow
PICTURE = Attachment(sha256="ab" * 32, media_type="image/png", data=secrets.token_bytes(4096))
BEGAN = "2026-11-24T09:00:30Z"
BEGAN_S = 1795510830.0
SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)


@pytest.fixture(params=["folder", "url"])
def blobs(request, tmp_path):
    return open_blobs(str(tmp_path / "blobs") if request.param == "folder" else f"memory://{secrets.token_hex(4)}")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


async def everything_in(blobs):
    return [f"{minute}/{run}/{name}" for minute in await blobs.names() for run in await blobs.names(minute)
            for name in await blobs.names(f"{minute}/{run}")]  # fmt: skip


async def test_a_blob_is_read_by_its_name_until_its_folder_is_removed(blobs):
    await blobs.put("a/b/one", b"1")
    await blobs.put("a/b/one", b"11")
    await blobs.put("a/c/two", b"")
    assert [await blobs.get(name) for name in ("a/b/one", "a/c/two", "a/b/none")] == [b"11", b"", None]
    assert sorted(await blobs.names("a")) == ["b", "c"]
    await blobs.remove("a/b")
    await blobs.remove("a/b")
    assert await blobs.names("a/b") == []
    assert await blobs.get("a/b/one") is None
    assert await blobs.get("a/c/two") == b""


async def test_many_blobs_written_at_once_are_each_stored_whole(blobs):
    contents = {f"a/{i % 3}/{i}": secrets.token_bytes(20_000) for i in range(40)}
    await asyncio.gather(*(blobs.put(name, data) for name, data in contents.items()))
    assert {name: await blobs.get(name) for name in contents} == contents


async def test_only_the_owner_reads_the_files_and_an_unusable_folder_is_reported(tmp_path):
    blobs = FolderBlobs(tmp_path / "blobs")
    await blobs.put("m/r/x", b"1")
    assert stat.S_IMODE((tmp_path / "blobs/m/r/x").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "blobs").stat().st_mode) == 0o700
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="Not a directory"):
        await FolderBlobs(tmp_path / "file").put("m/r/x", b"1")


def test_a_blob_store_url_with_an_unknown_scheme_is_refused():
    with pytest.raises(ConfigError, match=r"gateway\.blob_store.*nowhere"):
        open_store("memory", 60, "nowhere://bucket")


async def test_the_store_has_a_reference_and_the_blobs_have_the_bytes(blobs):
    inside = MemoryRunStore(3600)
    store = RunStoreWithBlobs(inside, blobs, 3600)
    run = RunMeta(request_id="loc_1", started_at=BEGAN)
    await store.open(run, lease_s=60)
    await store.attach("loc_1", PICTURE)
    assert len((await inside.file("loc_1", PICTURE.sha256)).data) < 64
    assert await store.file("loc_1", PICTURE.sha256) == PICTURE
    assert await everything_in(blobs) == [f"20261124T0900/loc_1/{PICTURE.sha256}"]
    assert await store.erase("loc_1")
    assert await everything_in(blobs) == []


async def test_what_blobs_do_not_change_is_passed_on_to_the_store_and_nothing_private_is(blobs):
    inside = MemoryRunStore(3600)
    store = RunStoreWithBlobs(inside, blobs, 3600)
    assert store.scrub == inside.scrub
    assert not hasattr(store, "_signals")
    assert copy.copy(store).scrub == inside.scrub


async def test_a_file_attached_after_an_erasure_leaves_no_blob(blobs):
    inside = MemoryRunStore(3600)
    store = RunStoreWithBlobs(inside, blobs, 3600)
    await store.open(RunMeta(request_id="loc_1", started_at=BEGAN), lease_s=60)
    await inside.erase("loc_1")  # at another gateway
    await store.attach("loc_1", PICTURE)
    assert await everything_in(blobs) == []


async def test_files_from_before_the_blob_store_are_still_given_out(blobs):
    inside = MemoryRunStore(3600)
    await inside.open(RunMeta(request_id="loc_1"), lease_s=60)
    await inside.attach("loc_1", PICTURE)
    assert await RunStoreWithBlobs(inside, blobs, 3600).file("loc_1", PICTURE.sha256) == PICTURE


async def test_blobs_are_kept_until_the_retention_of_their_request_is_over(blobs):
    now = [BEGAN_S]
    inside = MemoryRunStore(3600, clock=lambda: now[0])
    store = RunStoreWithBlobs(inside, blobs, 3600, wall=lambda: now[0])
    ended, working = (RunMeta(request_id=name, started_at=BEGAN) for name in ("loc_1", "loc_2"))
    for run in (ended, working):
        await store.open(run, lease_s=1e6)
        await store.attach(run.request_id, PICTURE)
    await store.close(ended)
    now[0] += 3590
    await store.purge()
    assert len(await everything_in(blobs)) == 2
    now[0] += 100
    await store.purge()
    assert await everything_in(blobs) == [f"20261124T0900/loc_2/{PICTURE.sha256}"]
    await store.close(working)
    now[0] += 3700
    await store.purge()
    assert await blobs.names() == []


async def test_the_run_store_is_not_ready_without_its_blob_store(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="blob store"):
        await RunStoreWithBlobs(MemoryRunStore(60), FolderBlobs(tmp_path / "file"), 60).ping()


def shared_store(redis_url, tmp_path, prefix):
    return RunStoreWithBlobs(RedisRunStore(redis_url, 3600, prefix=prefix), FolderBlobs(tmp_path / "blobs"), 3600)


async def test_the_other_gateway_serves_and_erases_a_photo_in_the_shared_blob_store(data_store, redis_url, tmp_path):
    prefix = secrets.token_hex(4)
    first, second = (serving(an_app(), shared_store(redis_url, tmp_path, prefix)) for _ in range(2))
    async with first as (a, _), second as (b, _), Client(a) as mine, Client(b) as other, httpx.AsyncClient() as http:
        job = await mine.submit(PHOTO, LocateOptions(n_parallel=1))
        accepted = await anext(other.events(job))
        photo = accepted.photos[0].sha256
        assert (await other.status(job, wait_s=20)).status == "done"
        found = await http.get(f"{b}/locate/{job}/files/{photo}")
        assert found.headers["content-type"] == "image/jpeg"
        assert found.content in [path.read_bytes() for path in (tmp_path / "blobs").glob("*/*/*")]
        assert (await other.cancel(job, erase=True)).erased
        assert list((tmp_path / "blobs").glob("*/*/*")) == []
        assert (await http.get(f"{a}/locate/{job}/files/{photo}")).status_code == 404


class Late(FolderBlobs):
    """Takes no photo before the test says so."""

    def __init__(self, root):
        super().__init__(root)
        self.asked = asyncio.Event()
        self.may = asyncio.Event()

    async def put(self, name, data):
        self.asked.set()
        await self.may.wait()
        await super().put(name, data)


async def test_no_rollout_waits_for_the_photo_to_be_stored_and_the_answer_does(data_store, tmp_path):
    blobs = Late(tmp_path / "blobs")
    async with serving(an_app(), RunStoreWithBlobs(MemoryRunStore(60), blobs, 60)) as (url, _), Client(url) as client:
        events = client.stream(PHOTO, LocateOptions(n_parallel=1))
        first = await anext(events)
        seen = [first.type]
        while "rollout_finished" not in seen:
            seen.append((await anext(events)).type)
        assert blobs.asked.is_set()
        async with httpx.AsyncClient() as http:
            asked = asyncio.create_task(http.get(f"{url}/locate/{first.request_id}/files/{first.photos[0].sha256}"))
            await asyncio.sleep(0.2)
            assert "answer" not in seen
            assert not asked.done()
            blobs.may.set()
            assert (await asked).status_code == 200
        assert [event.type async for event in events][-2:] == ["answer", "done"]


async def test_a_photo_that_cannot_be_stored_is_a_declared_end(data_store, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    store = RunStoreWithBlobs(MemoryRunStore(60), FolderBlobs(tmp_path / "file"), 60)
    async with serving(an_app(), store) as (url, gateway), Client(url) as client:
        events = [event async for event in client.stream(PHOTO, LocateOptions(n_parallel=1))]
        assert [event.type for event in events][-2:] == ["error", "done"]
        assert (events[-2].code, events[-2].status) == ("store-unavailable", 503)
        assert "answer" not in [event.type for event in events]
        await idle(gateway)


async def test_a_cancelled_request_leaves_nothing_behind_once_it_is_erased(data_store, tmp_path):
    store = RunStoreWithBlobs(MemoryRunStore(60), FolderBlobs(tmp_path / "blobs"), 60)
    async with serving(an_app(SLOW), store) as (url, _), Client(url) as client:
        job = await client.submit(PHOTO, LocateOptions(n_parallel=1))
        assert (await client.cancel(job, erase=True)).erased
        await asyncio.sleep(0.2)
        assert list((tmp_path / "blobs").glob("*/*/*")) == []
