"""`POST /locate/{id}/continue`: what is ruled out stays out, no tool is asked twice, what changed is told."""

import asyncio

import httpx
import pytest
from support.basics import sign_bytes
from support.service import PHOTO, an_app, talking_to, with_tools

from deployments.runstore import MemoryRunStore
from deployments.wiring.local import LocalTools, local_tools
from tts.config import ScriptedEngine
from tts.domain.geo import LatLon, distance_km
from tts.package_files import sample_photos

SIGN = sample_photos()["town-sign-latin.jpg"].read_bytes()  # Bellinzona
STATION = sample_photos()["station-georgian.jpg"].read_bytes()  # Khoni
SLOW = ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=30.0)
SEARCHING = ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=0.01, tool="poi_keyword_search")
FULL = {"n_parallel": "2", "seed": "1", "include": "full"}
BELLINZONA = LatLon(lat=46.1928, lon=9.0170)


@pytest.fixture
async def embedded(url):
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
async def scripted(data_store):
    async with talking_to(an_app()) as client:
        yield client


async def locate_photo(http, photo=PHOTO, **fields):
    reply = await http.post("/locate", files={"image": photo}, data={**FULL, **fields})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def continue_request(http, request_id, status=200, **body):
    reply = await http.post(f"/locate/{request_id}/continue", json=body)
    assert reply.status_code == status, reply.text
    return reply.json()


def results_of(reply):
    return [result for t in reply["trajectories"] for turn in t["turns"] for result in turn["results"]]


async def test_an_answer_that_is_rejected_is_not_given_again(embedded):
    first = await locate_photo(embedded, SIGN)
    assert first["answer"]["city"] == "Bellinzona"
    second = await continue_request(embedded, first["request_id"])
    answer, changed = second["answer"], second["answer"]["changed"]
    assert second["request_id"] != first["request_id"]
    assert answer["city"] != "Bellinzona"
    if answer["lat"] is not None:
        assert distance_km(BELLINZONA, LatLon(lat=answer["lat"], lon=answer["lon"])) > 3
    assert changed["continues"] == first["request_id"]
    assert changed["before"]["place"] == "Bellinzona (Switzerland)"
    assert changed["why"] == ["you ruled out Bellinzona (Switzerland)"]
    assert "Bellinzona (Switzerland)" in changed["text"]
    texts = [one["text"] for one in answer["contradictions"] if one["about"] == "not_there"]
    assert texts == ["The photo says Bellinzona (Switzerland), which you ruled out."]


async def test_a_continued_run_equals_a_fresh_one_with_the_same_facts(embedded):
    deep = {"depth": "deep", "stop": "none"}
    first = await locate_photo(embedded, STATION, **deep)
    second = await continue_request(embedded, first["request_id"], not_there="Khoni", fact="taken in Georgia")
    fresh = await locate_photo(embedded, STATION, **deep, not_there="Khoni", hint="taken in Georgia")
    for name in ("lat", "lon", "radius_km", "level", "confidence", "city", "explanation", "candidates", "hint"):
        assert second["answer"][name] == fresh["answer"][name], name
    kept = [result["kept"] for result in results_of(second)]
    assert len(kept) == len(results_of(fresh))
    assert any(kept)
    assert not any(result["kept"] for result in results_of(fresh))


class Counting:
    """A toolbox that counts what it is asked."""

    def __init__(self, inner):
        self._inner = inner
        self.calls = []

    def schemas(self):
        return self._inner.schemas()

    async def call(self, call, context):
        self.calls.append((call.name, dict(call.arguments)))
        return await self._inner.call(call, context)


async def test_a_continued_request_reuses_tool_results_unless_the_area_changed(data_store):
    args = an_app(SEARCHING)
    local = local_tools(args)
    counting = Counting(local.toolbox)
    async with with_tools(args, LocalTools(counting, local.brokers)) as http:
        first = await locate_photo(http)
        made = len(counting.calls)
        assert made == 4
        second = await continue_request(http, first["request_id"], fact="a rainy day")
        assert len(counting.calls) == made
        assert [r["kept"] for r in results_of(second)] == [True] * made
        assert [r["text"] for r in results_of(second)] == [r["text"] for r in results_of(first)]
        again = await continue_request(http, first["request_id"], within="FR")
        assert len(counting.calls) == 2 * made, "what was found elsewhere is asked for again in another area"
        assert not any(r["kept"] for r in results_of(again))


async def test_the_log_of_the_earlier_request_stays_closed_and_the_new_one_names_it(scripted):
    first = (await locate_photo(scripted))["request_id"]
    events = (await scripted.get(f"/locate/{first}/events")).text
    headers = {"Prefer": "respond-async"}
    second = (await scripted.post(f"/locate/{first}/continue", json={"fact": "in France"}, headers=headers)).json()
    await scripted.get(second["location"], headers={"Prefer": "wait=20"})
    assert (await scripted.get(f"/locate/{first}/events")).text == events
    assert f'"continues":"{first}"' in (await scripted.get(second["events"])).text


async def test_erasing_a_request_keeps_the_request_that_continues_it(scripted):
    first = (await locate_photo(scripted))["request_id"]
    second = await continue_request(scripted, first, fact="in France")
    photo = second["answer"]["provenance"]["photo_sha256"][0]
    assert (await scripted.delete(f"/locate/{first}", params={"erase": "true"})).json()["erased"]
    assert (await scripted.get(f"/locate/{second['request_id']}/files/{photo}")).status_code == 200
    third = await continue_request(scripted, second["request_id"], not_there="Paris")
    assert third["answer"]["changed"]["why"] == ["you ruled out Paris (France)"]
    assert third["answer"]["hint"]["place"] == "France"
    assert (await scripted.post(f"/locate/{first}/continue", json={})).status_code == 404


async def test_a_further_photo_joins_the_earlier_one(scripted):
    first = await locate_photo(scripted)
    reply = await scripted.post(f"/locate/{first['request_id']}/continue", files={"image": sign_bytes("Gare")})
    answer = reply.json()["answer"]
    assert answer["provenance"]["photo_sha256"][0] == first["answer"]["provenance"]["photo_sha256"][0]
    assert len(answer["provenance"]["photo_sha256"]) == 2
    assert answer["changed"]["why"] == ["you added a photo"]


async def test_a_photo_that_is_not_kept_has_to_be_sent_again(data_store):
    class Forgetful(MemoryRunStore):
        async def file(self, request_id, sha256):
            return None

    async with talking_to(an_app(), Forgetful(600.0)) as http:
        first = (await locate_photo(http))["request_id"]
        problem = await continue_request(http, first, 410, fact="in France")
        assert problem["type"].endswith(":photos-gone")
        assert "send it again" in problem["detail"]
        body = {"files": {"image": PHOTO}, "data": {"fact": "in France"}}
        assert (await http.post(f"/locate/{first}/continue", **body)).status_code == 200


async def test_a_request_at_work_is_not_continued(data_store):
    async with talking_to(an_app(SLOW)) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, headers={"Prefer": "respond-async"})
        first = reply.json()["request_id"]
        assert (await continue_request(http, first, 409))["type"].endswith(":still-running")
        await http.delete(f"/locate/{first}")
        problem = await continue_request(http, first, 422)
        assert problem["errors"][0]["field"] == "not_there"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"not_there": "Nowhereville-on-Sea"}, "not_there"),
        ({"not_there": ["Sofia", "Nowhereville-on-Sea"]}, "not_there.1"),
        ({"within": {"kind": "countries", "codes": ["ZZ"]}}, "within"),
        ({"fact": "x" * 1001}, "fact"),
        ({"claim": "Sofia"}, "claim"),
    ],
)
async def test_a_wrong_field_of_a_continuation_is_named(scripted, body, field):
    first = (await locate_photo(scripted))["request_id"]
    problem = await continue_request(scripted, first, 422, **body)
    assert problem["errors"][0]["field"] == field


async def test_a_denial_in_words_rules_the_place_out(embedded):
    first = await locate_photo(embedded, SIGN)
    second = await continue_request(embedded, first["request_id"], fact="It is not in Switzerland.")
    assert second["answer"]["changed"]["why"] == ["you ruled out Switzerland"]
    assert second["answer"]["country_code"] != "CH"


async def test_an_idempotency_key_continues_one_request_once(scripted):
    first, other = (await locate_photo(scripted))["request_id"], (await locate_photo(scripted))["request_id"]
    key = {"Idempotency-Key": "k"}
    replies = [await scripted.post(f"/locate/{first}/continue", json={"fact": "a"}, headers=key) for _ in range(2)]
    assert replies[0].json()["request_id"] == replies[1].json()["request_id"]
    assert replies[1].headers["idempotency-replayed"] == "true"
    reused = await scripted.post(f"/locate/{other}/continue", json={"fact": "a"}, headers=key)
    assert reused.json()["type"].endswith(":idempotency-key-reused")


async def test_a_continued_request_keeps_to_max_precision(data_store):
    async with talking_to(an_app(max_precision="city")) as http:
        first = (await locate_photo(http))["request_id"]
        second = await continue_request(http, first)
        changed = second["answer"]["changed"]
        assert changed["before"]["place"].startswith("Paris")
        assert changed["why"] == ["what you added"]
        problem = await continue_request(http, first, 422, not_there="48.85,2.35,1")
        assert problem["errors"][0]["field"] == "not_there"


async def test_two_continuations_of_one_request_do_not_affect_each_other(scripted):
    first = (await locate_photo(scripted))["request_id"]
    one, other = await asyncio.gather(
        continue_request(scripted, first, fact="in France"), continue_request(scripted, first, not_there="Paris")
    )
    assert one["answer"]["changed"]["why"] == ["you said: “in France”"]
    assert other["answer"]["changed"]["why"] == ["you ruled out Paris (France)"]
    assert other["answer"]["hint"] is None
