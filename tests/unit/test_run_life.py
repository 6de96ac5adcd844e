"""A request after it was started: resumed, polled, cancelled, erased, sent twice; and what it leaves behind."""

import asyncio
import re

import httpx
import pytest
from service import PHOTO, a_gateway, an_app, talking_to

from deployments.http import create_app
from deployments.runstore import MemoryRunStore
from tts.api.sse import parse_sse
from tts.config import ScriptedEngine
from tts.domain.events import Failed, parse_event
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold

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


async def test_alone_and_polled(http):
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
    for cut in range(len(whole) + 1):
        assert await events_of(http, f"{where}/events", **{"Last-Event-ID": str(cut)}) == whole[cut:]
    lines = (await http.get(f"{where}/events", headers={"Accept": "application/x-ndjson"})).text.split("\n")
    assert [parse_event(line) for line in lines if line] == whole


@pytest.mark.parametrize("stated", ["x", "-1", "1.5", "9" * 13])
async def test_an_id_that_is_none_is_refused(http, stated):
    where = (await http.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    assert (await http.get(f"{where}/events", headers={"Last-Event-ID": stated})).status_code == 400


async def test_cancelled_is_cancelled(slow):
    where = (await slow.post("/locate", **FORM, headers=ASYNC)).headers["location"]
    told = (await slow.delete(where)).json()
    assert told["was_running"]
    assert (await slow.get(where)).json()["status"] == "cancelled"
    events = await events_of(slow, f"{where}/events")
    assert events[-1].type == "done"
    assert events[-1].stop_reason == "cancelled"
    assert not (await slow.delete(where)).json()["was_running"]


async def test_erased_leaves_nothing(http):
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


async def test_the_same_key_runs_once(http):
    key = {"Idempotency-Key": '"a-key"'}
    first, second = await asyncio.gather(*(http.post("/locate", **FORM, headers=key) for _ in range(2)))
    assert first.json() == second.json()
    assert first.headers["x-request-id"] == second.headers["x-request-id"]
    assert [reply.headers.get("idempotency-replayed") for reply in (first, second)].count("true") == 1
    other = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "3"}, headers=key)
    assert other.status_code == 422
    assert other.json()["type"].endswith("idempotency-key-reused")
    assert (await http.post("/locate", **FORM, headers={"Idempotency-Key": "a b"})).status_code == 400


async def test_a_cancelled_request_gives_its_key_back(slow):
    key = {**ASYNC, "Idempotency-Key": "k"}
    where = (await slow.post("/locate", **FORM, headers=key)).headers["location"]
    await slow.delete(where)
    assert "idempotency-replayed" not in (await slow.post("/locate", **FORM, headers=key)).headers


async def test_several_photos_are_of_one_place(http):
    reply = await http.post("/locate", files=[("image", PHOTO)] * 8, data={"n_parallel": "1", "include": "full"})
    assert len(reply.json()["answer"]["provenance"]["photo_sha256"]) == 8


@pytest.mark.parametrize("path", ["loc_0", "loc_" + "g" * 20, "loc_" + "0" * 20, "..%2f..%2fetc"])
async def test_unknown_requests_are_not_found(http, path):
    for method in ("GET", "DELETE"):
        reply = await http.request(method, f"/locate/{path}")
        assert reply.status_code in (404, 422)
        assert reply.headers["content-type"] == "application/problem+json"
        assert re.fullmatch(r"req_[0-9a-f]{20}", reply.headers["x-request-id"])


async def test_a_request_of_a_lost_gateway_is_ended_by_whoever_looks(data_store):
    store = MemoryRunStore(3600)
    lost, _ = a_gateway(an_app(SLOW, lease_s=0.2), store)
    request_id = (await lost.start([PHOTO], LocateOptions(n_parallel=1), attended=False)).request_id
    lost._runner._jobs.clear()  # it forgets, as a killed process does: no lease is renewed any more
    other, _ = a_gateway(an_app(SLOW, lease_s=0.2), store)
    events = [parse_event(e.payload) async for e in other.follow(request_id) if e is not None]
    run = fold(events)
    assert isinstance(events[-2], Failed)
    assert (run.failure.code, run.failure.status, run.stop_reason) == ("gateway-lost", 503, "failed")


async def test_nobody_reads_for_the_grace_time_and_the_work_stops(data_store, monkeypatch):
    monkeypatch.setattr("deployments.runner.ATTENDED_S", 0.1)
    gateway, _ = a_gateway(an_app(SLOW))
    started = await gateway.start([PHOTO], LocateOptions(n_parallel=1, resume_grace_s=0.2))
    with gateway.attended(started.request_id, 0.2):
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
