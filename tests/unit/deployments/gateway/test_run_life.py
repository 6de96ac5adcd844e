"""A request after it was started: resumed, polled, cancelled, erased, sent twice; and what it leaves behind."""

import asyncio
import re
import shutil

import httpx
import pytest
from support.service import PHOTO, a_gateway, an_app, talking_to

from deployments.gateway.arrival import Arrival
from deployments.gateway.auth import Caller
from deployments.http.app import create_app
from deployments.runstore import IdempotencyClaim, MemoryRunStore, StoreUnavailable
from deployments.runstore.sqlite import SQLiteRunStore
from tts.api.sse_frame import parse_sse
from tts.config import ScriptedEngine
from tts.domain.events import Failed, parse_event
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold
from tts.errors import ConfigError, NotFound

SLOW = ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=30.0)
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "2"}}
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
async def http(data_store):
    async with talking_to(an_app()) as client:
        yield client


@pytest.fixture
async def slow(data_store):
    async with talking_to(an_app(SLOW)) as client:
        yield client


async def events_of(http, path, **headers):
    reply = await http.get(path, headers=headers)
    assert reply.status_code == 200, reply.text

    async def lines():
        for line in reply.text.split("\n"):
            yield line

    return [event async for event in parse_sse(lines())]


async def test_a_request_without_a_reader_is_polled_until_its_answer_is_there(http):
    reply = await http.post("/locate", **FORM, headers=ASYNC)
    assert (reply.status_code, reply.headers["preference-applied"]) == (202, "respond-async")
    where = reply.headers["location"]
    assert where == f"/locate/{reply.json()['request_id']}" == f"/locate/{reply.headers['x-request-id']}"
    first = (await http.get(where)).json()
    assert first["status"] in ("running", "done")
    done = (await http.get(where, headers={"Prefer": "wait=20"})).json()
    assert done["status"] == "done"
    assert done["answer"]["n"]["run"] == 2
    assert done["last_seq"] == (await events_of(http, where + "/events"))[-1].seq
    geo = await http.get(where, headers={"Accept": "application/geo+json"})
    assert geo.json()["type"] == "FeatureCollection"


async def test_a_stream_resumed_anywhere_equals_the_uncut_one(http):
    where = (await http.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    whole = await events_of(http, f"{where}/events")
    for cut in range(len(whole)):
        assert await events_of(http, f"{where}/events", **{"Last-Event-ID": str(cut)}) == whole[cut:]
    lines = (await http.get(f"{where}/events", headers={"Accept": "application/x-ndjson"})).text.split("\n")
    assert [parse_event(line) for line in lines if line] == whole


async def test_a_reader_with_every_event_of_an_ended_request_gets_204(http):
    where = (await http.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    last = (await events_of(http, f"{where}/events"))[-1].seq
    for stated in (last, last + 1, 10**11):
        reply = await http.get(f"{where}/events", headers={"Last-Event-ID": str(stated)})
        assert (reply.status_code, reply.content) == (204, b"")
        assert reply.headers["x-request-id"] in where


async def test_a_reader_with_every_event_of_a_running_request_waits_for_more(slow):
    where = (await slow.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    seen = (await slow.get(where, headers={"Prefer": "wait=1"})).json()["last_seq"]
    assert seen
    following = asyncio.create_task(events_of(slow, f"{where}/events", **{"Last-Event-ID": str(seen)}))
    await slow.delete(where)
    assert (await following)[-1].type == "done"


@pytest.mark.parametrize("stated", ["x", "-1", "1.5", "9" * 13])
async def test_a_last_event_id_that_is_no_number_is_refused(http, stated):
    where = (await http.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    assert (await http.get(f"{where}/events", headers={"Last-Event-ID": stated})).status_code == 400


async def test_a_cancelled_request_ends_as_cancelled(slow):
    where = (await slow.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    reply = (await slow.delete(where)).json()
    assert reply["was_running"]
    assert (await slow.get(where)).json()["status"] == "cancelled"
    events = await events_of(slow, f"{where}/events")
    assert events[-1].type == "done"
    assert events[-1].stop_reason == "cancelled"
    assert not (await slow.delete(where)).json()["was_running"]


async def test_the_end_of_a_cancelled_request_has_the_time_of_its_end(slow):
    where = (await slow.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    for _ in range(500):
        if (await slow.get(where)).json()["last_seq"] >= 2:
            break
        await asyncio.sleep(0.02)
    await slow.delete(where)
    times = [event.t_s for event in await events_of(slow, f"{where}/events")]
    assert len(times) > 2
    assert 0.0 < times[-1] == max(times)


async def test_a_reply_without_an_answer_names_its_request(slow):
    key = {"Idempotency-Key": "k"}
    where = (await slow.post("/locate", **FORM, headers={**ASYNC, **key})).headers["location"]
    waiting = asyncio.create_task(slow.post("/locate", **FORM, headers=key))
    await asyncio.sleep(0.1)
    await slow.delete(where)
    reply = await waiting
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert reply.json()["instance"] == where
    assert reply.json()["type"].endswith(":cancelled")


async def test_an_erased_request_leaves_no_events_files_or_key(http):
    where = (await http.post("/locate", **FORM, headers={**ASYNC, "Idempotency-Key": "k"})).headers["location"]
    photo = (await events_of(http, f"{where}/events"))[0].photos[0].sha256
    picture = await http.get(f"{where}/files/{photo}")
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content != PHOTO
    assert (await http.delete(f"{where}?erase=true")).json()["erased"]
    for path in (where, f"{where}/events", f"{where}/files/{photo}"):
        assert (await http.get(path)).status_code == 404
    assert (await http.delete(where)).status_code == 404
    again = await http.post("/locate", **FORM, headers={**ASYNC, "Idempotency-Key": "k"})
    assert "idempotency-replayed" not in again.headers


async def test_two_requests_with_the_same_idempotency_key_run_once(http):
    key = {"Idempotency-Key": '"a-key"'}
    first, second = await asyncio.gather(*(http.post("/locate", **FORM, headers=key) for _ in range(2)))
    assert first.json() == second.json()
    assert first.headers["x-request-id"] == second.headers["x-request-id"]
    assert [reply.headers.get("idempotency-replayed") for reply in (first, second)].count("true") == 1
    other = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "3"}, headers=key)
    assert other.status_code == 422
    assert other.json()["type"].endswith("idempotency-key-reused")
    assert (await http.post("/locate", **FORM, headers={"Idempotency-Key": "a b"})).status_code == 400


class Shaky(MemoryRunStore):
    """Does not answer the next `failures` calls of the method `failing`."""

    def __init__(self, failing, failures=1):
        super().__init__(3600)
        self.failing = failing
        self.failures = failures

    def _answers(self, method):
        if method == self.failing and self.failures:
            self.failures -= 1
            raise StoreUnavailable("gone")

    async def open(self, *args, **options):
        self._answers("open")
        return await super().open(*args, **options)

    async def attend(self, *args):
        self._answers("attend")
        await super().attend(*args)

    async def attended_s(self, *args):
        self._answers("attended_s")
        return await super().attended_s(*args)


async def test_a_request_that_was_not_accepted_gives_its_key_back(data_store):
    async with talking_to(an_app(), Shaky("open")) as http:
        key = {"Idempotency-Key": "k"}
        refused = await http.post("/locate", **FORM, headers=key)
        assert (refused.status_code, refused.json()["detail"]) == (503, "gone")
        again = await http.post("/locate", **FORM, headers=key)
        assert again.status_code == 200
        assert "idempotency-replayed" not in again.headers


async def test_a_key_whose_request_never_came_to_be_is_taken_over(data_store, monkeypatch):
    monkeypatch.setattr("deployments.gateway.idempotency._MAX_OPENING_S", 0.1)
    store = MemoryRunStore(3600)
    await store.claim("\nk", IdempotencyClaim(request_id="loc_" + "0" * 20, fingerprint="of a gateway that was lost"))
    async with talking_to(an_app(), store) as http:
        reply = await http.post("/locate", **FORM, headers={"Idempotency-Key": "k"})
        assert reply.status_code == 200
        assert "idempotency-replayed" not in reply.headers


async def test_erasing_a_cancelled_request_leaves_its_key_to_the_later_request(slow):
    headers = {**ASYNC, "Idempotency-Key": "k"}
    first = (await slow.post("/locate", **FORM, headers=headers)).headers["location"]
    await slow.delete(first)
    second = (await slow.post("/locate", **FORM, headers=headers)).headers["location"]
    assert (await slow.delete(f"{first}?erase=true")).json()["erased"]
    third = await slow.post("/locate", **FORM, headers=headers)
    assert (third.headers["location"], third.headers["idempotency-replayed"]) == (second, "true")


async def test_idempotency_keys_of_two_callers_are_kept_apart(data_store):
    gateway, _ = a_gateway(an_app())
    options = LocateOptions(n_parallel=1)
    started = [
        await gateway.start([PHOTO], options, arrival=Arrival(Caller(name=name)), key=key, attended=False)
        for name, key in (("a", "b:c"), ("a:b", "c"))
    ]
    assert not any(one.replayed for one in started)
    await gateway.aclose()


async def test_an_erased_request_is_not_found(data_store):
    gateway, _ = a_gateway(an_app())
    with pytest.raises(NotFound, match="it was erased"):
        await gateway.current_run("loc_" + "0" * 20)
    await gateway.aclose()


@pytest.mark.parametrize("failing", ["attend", "attended_s"])
async def test_a_short_failure_of_the_store_does_not_cancel_a_request_with_a_reader(data_store, monkeypatch, failing):
    for where in ("readers", "runner"):
        monkeypatch.setattr(f"deployments.gateway.{where}.ATTENDED_S", 0.3)
    store = Shaky(failing, failures=0)
    gateway, _ = a_gateway(an_app(ScriptedEngine(turns=2, tokens_per_turn=8, turn_s=0.5)), store)
    started = await gateway.start([PHOTO], LocateOptions(n_parallel=1, resume_grace_s=0.1))
    with gateway.attach_reader(started.request_id, 0.1):
        await asyncio.sleep(0.05)
        store.failures = 2
        assert (await gateway.result(started.request_id)).answer is not None
    await gateway.aclose()


async def test_a_cancelled_request_gives_its_key_back(slow):
    key = {**ASYNC, "Idempotency-Key": "k"}
    where = (await slow.post("/locate", **FORM, headers=key)).headers["location"]
    await slow.delete(where)
    assert "idempotency-replayed" not in (await slow.post("/locate", **FORM, headers=key)).headers


async def test_a_request_takes_eight_photos_of_one_place(http):
    reply = await http.post("/locate", files=[("image", PHOTO)] * 8, data={"n_parallel": "1", "include": "full"})
    assert len(reply.json()["answer"]["provenance"]["photo_sha256"]) == 8


@pytest.mark.parametrize("path", ["loc_0", "loc_" + "g" * 20, "loc_" + "0" * 20, "..%2f..%2fetc"])
async def test_unknown_requests_are_not_found(http, path):
    for method in ("GET", "DELETE"):
        reply = await http.request(method, f"/locate/{path}")
        assert reply.status_code in (404, 422)
        assert reply.headers["content-type"] == "application/problem+json"
        assert re.fullmatch(r"req_[0-9a-f]{20}", reply.headers["x-request-id"])


async def test_a_request_of_a_lost_gateway_is_ended_by_the_gateway_that_reads_it(data_store):
    store = MemoryRunStore(3600)
    lost, _ = a_gateway(an_app(SLOW, lease_s=0.2), store)
    request_id = (await lost.start([PHOTO], LocateOptions(n_parallel=1), attended=False)).request_id
    lost._runner._jobs.clear()  # it forgets, as a killed process does: no lease is renewed any more
    other, _ = a_gateway(an_app(SLOW, lease_s=0.2), store)
    events = [parse_event(e.payload) async for e in other.follow(request_id) if e is not None]
    run = fold(events)
    assert isinstance(events[-2], Failed)
    assert (run.failure.code, run.failure.status, run.stop_reason) == ("gateway-lost", 503, "failed")


async def test_a_second_gateway_is_refused_the_sqlite_store_of_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr("deployments.runstore.sqlite._LOCK_PATIENCE_S", 0.2)
    first, second = (SQLiteRunStore(tmp_path / "runs.sqlite", 3600) for _ in range(2))
    await first.ping()
    with pytest.raises(ConfigError, match="SQLite is for one gateway"):
        await second.ping()
    await first.aclose()
    await second.ping()
    await second.aclose()


async def test_after_a_crash_with_sqlite_a_request_is_declared_lost_and_its_key_is_free(data_store, tmp_path):
    """A gateway after a crash continues nothing, and says so."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    lost, _ = a_gateway(an_app(SLOW), SQLiteRunStore(before / "runs.sqlite", 3600))
    options = LocateOptions(n_parallel=1)
    request_id = (await lost.start([PHOTO], options, attended=False, key="again")).request_id
    shutil.copytree(before, after)  # what a killed process leaves on the disk
    await lost.aclose()
    store = SQLiteRunStore(after / "runs.sqlite", 3600)
    gateway, _ = a_gateway(an_app(), store)
    async with asyncio.timeout(10):
        events = [parse_event(e.payload) async for e in gateway.follow(request_id) if e is not None]
    assert [event.type for event in events[-2:]] == ["error", "done"]
    assert (events[-2].code, events[-2].status) == ("gateway-lost", 503)
    assert [event.t_s for event in events] == sorted(event.t_s for event in events)
    again = await gateway.start([PHOTO], options, attended=False, key="again")
    assert again.request_id != request_id
    assert (await gateway.result(again.request_id)).stop_reason == "answered"
    await gateway.aclose()


@pytest.mark.slow
async def test_a_request_without_a_reader_for_its_grace_time_is_cancelled(data_store, monkeypatch):
    monkeypatch.setattr("deployments.gateway.runner.ATTENDED_S", 0.1)
    gateway, _ = a_gateway(an_app(SLOW))
    started = await gateway.start([PHOTO], LocateOptions(n_parallel=1, resume_grace_s=0.2))
    with gateway.attach_reader(started.request_id, 0.2):
        await asyncio.sleep(0.05)
    run = await asyncio.wait_for(gateway.result(started.request_id), 10)
    assert run.stop_reason == "cancelled"
    assert gateway.in_flight == 0
    await gateway.aclose()


async def test_readiness_names_what_does_not_answer(data_store):
    async def broken():
        raise RuntimeError("a secret path")

    gateway, _ = a_gateway(an_app())
    app = create_app(gateway, an_app(), checks={"rollout": broken})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["type"]) == (503, "urn:geotts:problem:not-ready")
    assert reply.json()["checks"]["store"] == "ok"
    assert "secret" not in reply.text
