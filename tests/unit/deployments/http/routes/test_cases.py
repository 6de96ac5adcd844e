"""Cases over HTTP: what is kept, for whom, how long, and what erasing takes with it."""

import asyncio
from typing import Any

import pytest
from support.service import PHOTO, an_app, talking_to

from deployments.config import AccessConfig
from deployments.config.cases import CasesConfig
from deployments.gateway.auth import fingerprint
from deployments.runstore import MemoryRunStore
from deployments.runstore.sqlite import SQLiteRunStore
from tts.config import ScriptedEngine

FORM: dict[str, dict[str, Any]] = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
DRAFT = {
    "title": "Market square",
    "notes": "asked by the desk",
    "tags": ["june", "video"],
    "claims": [{"text": "filmed in Bellinzona"}],
}
NOBODY = "/cases/case_" + "0" * 20


@pytest.fixture
async def http(data_store):
    async with talking_to(an_app()) as client:
        yield client


async def a_case(http, **draft):
    reply = await http.post("/cases", json={**DRAFT, **draft})
    assert reply.status_code == 201
    assert reply.headers["location"] == f"/cases/{reply.json()['case_id']}"
    return reply.json()


async def with_a_photo(http):
    case = await a_case(http)
    request_id = (await http.post("/locate", **FORM)).json()["request_id"]
    reply = await http.post(f"/cases/{case['case_id']}/runs", json={"request_id": request_id, "title": "Photo 1"})
    assert reply.status_code == 200
    return f"/cases/{case['case_id']}", request_id


async def test_a_case_says_what_came_of_its_photos(http):
    where, request_id = await with_a_photo(http)
    case = (await http.get(where)).json()
    (run,) = case["runs"]
    assert (run["request_id"], run["title"], run["outcome"]["status"]) == (request_id, "Photo 1", "done")
    assert "France" in run["outcome"]["place"]
    assert (await http.get(f"/locate/{request_id}/files/{run['photos'][0]}")).status_code == 200
    assert (case["title"], case["notes"], case["tags"]) == (DRAFT["title"], DRAFT["notes"], DRAFT["tags"])
    assert case["claims"] == [{"text": "filmed in Bellinzona", "standing": "open"}]
    again = (await http.get(where)).json()
    assert again["version"] == case["version"]  # looking changes nothing more


async def test_a_case_says_what_became_of_a_claim(http):
    case = await a_case(http)
    checked = await http.post("/check", files=FORM["files"], data={**FORM["data"], "claim": "Paris"})
    where = f"/cases/{case['case_id']}"
    await http.post(f"{where}/runs", json={"request_id": checked.json()["request_id"], "title": "Check: Paris"})
    (run,) = (await http.get(where)).json()["runs"]
    assert run["outcome"]["verdict"] == checked.json()["answer"]["check"]["verdict"] == "not_decidable"


async def test_a_request_is_added_once(http):
    where, request_id = await with_a_photo(http)
    reply = await http.post(f"{where}/runs", json={"request_id": request_id})
    assert [run["title"] for run in reply.json()["runs"]] == ["Photo 1"]
    unknown = await http.post(f"{where}/runs", json={"request_id": "loc_" + "0" * 20})
    assert unknown.status_code == 404


async def test_a_case_is_changed_only_by_who_saw_its_last_version(http):
    case = await a_case(http)
    where = f"/cases/{case['case_id']}"
    change = {**DRAFT, "title": "Old market", "version": case["version"]}
    changed = (await http.put(where, json=change)).json()
    assert (changed["title"], changed["version"]) == ("Old market", 2)
    late = await http.put(where, json={**change, "title": "too late"})
    assert (late.status_code, late.json()["type"]) == (409, "urn:geotts:problem:case-changed")
    assert (await http.get(where)).json()["title"] == "Old market"


async def test_many_requests_come_into_a_case_at_once(http):
    case = await a_case(http)
    ids = [(await http.post("/locate", **FORM)).json()["request_id"] for _ in range(5)]
    adding = (http.post(f"/cases/{case['case_id']}/runs", json={"request_id": id_}) for id_ in ids)
    assert {reply.status_code for reply in await asyncio.gather(*adding)} == {200}
    runs = (await http.get(f"/cases/{case['case_id']}")).json()["runs"]
    assert sorted(run["request_id"] for run in runs) == sorted(ids)


async def test_the_list_of_cases_is_filtered_by_words_and_tags(http):
    await with_a_photo(http)
    await a_case(http, title="Station", tags=["night"], notes="", claims=[])

    async def titles(**query):
        return [case["title"] for case in (await http.get("/cases", params=query)).json()["cases"]]

    assert sorted(await titles()) == ["Market square", "Station"]
    assert await titles(q="STATION") == ["Station"]
    assert await titles(q="bellinzona desk") == ["Market square"]
    assert await titles(tag="night") == ["Station"]
    assert await titles(tag="nig") == []


async def test_the_list_of_cases_says_what_a_case_without_a_title_contains(http):
    where, _ = await with_a_photo(http)
    await http.get(where)
    (case,) = (await http.get("/cases")).json()["cases"]
    assert case["entries"] == ["Photo 1"]
    assert any("France" in place for place in case["places"])
    (run,) = case["first"]
    assert (run["title"], run["outcome"]["status"], len(run["photos"])) == ("Photo 1", "done", 1)
    assert "France" in run["outcome"]["place"]
    found = (await http.get("/cases", params={"q": "photo france"})).json()["cases"]
    assert [one["case_id"] for one in found] == [case["case_id"]]


async def test_erasing_a_case_erases_its_photos_everywhere(http):
    where, request_id = await with_a_photo(http)
    photo = (await http.get(f"/locate/{request_id}/events", headers={"Accept": "application/x-ndjson"})).text
    assert request_id in photo
    erased = await http.delete(where)
    assert (erased.status_code, erased.json()["requests"]) == (200, 1)
    for gone in (where, f"/locate/{request_id}", f"/locate/{request_id}/events"):
        assert (await http.get(gone)).status_code == 404
    assert (await http.get("/cases")).json()["cases"] == []


async def test_a_single_photo_can_be_erased_from_a_case(http):
    where, request_id = await with_a_photo(http)
    case = (await http.delete(f"{where}/runs/{request_id}")).json()
    assert case["runs"] == []
    assert (await http.get(f"/locate/{request_id}")).status_code == 404
    assert (await http.delete(f"{where}/runs/{request_id}")).status_code == 404


async def test_a_request_that_was_erased_by_itself_is_shown_as_erased(http):
    where, request_id = await with_a_photo(http)
    assert (await http.get(where)).json()["runs"][0]["outcome"]["status"] == "done"
    await http.delete(f"/locate/{request_id}", params={"erase": "true"})
    outcome = (await http.get(where)).json()["runs"][0]["outcome"]
    assert outcome == {"status": "erased", "place": "", "lat": None, "lon": None, "confidence": None, "verdict": None}


async def test_a_request_that_runs_has_no_outcome_yet(data_store):
    async with talking_to(an_app(ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=30.0))) as http:
        case = await a_case(http)
        where = (await http.post("/locate", **FORM, headers={"Prefer": "respond-async"})).json()
        await http.post(f"/cases/{case['case_id']}/runs", json={"request_id": where["request_id"]})
        assert (await http.get(f"/cases/{case['case_id']}")).json()["runs"][0]["outcome"] is None
        await http.delete(f"/locate/{where['request_id']}")
        assert (await http.get(f"/cases/{case['case_id']}")).json()["runs"][0]["outcome"]["status"] == "cancelled"


async def test_a_case_and_its_answers_outlive_a_restart_and_the_retention_of_requests(data_store, tmp_path):
    now = [1000.0]

    def store():
        return SQLiteRunStore(tmp_path / "runs.sqlite", 60.0, wall=lambda: now[0])

    async with talking_to(an_app(), store()) as http:
        where, kept = await with_a_photo(http)
        alone = (await http.post("/locate", **FORM)).json()["request_id"]
    now[0] += 3600
    opened = store()
    async with talking_to(an_app(), opened) as http:
        await opened.purge()
        assert (await http.get(f"/locate/{alone}")).status_code == 404
        assert (await http.get(f"/locate/{kept}")).json()["answer"]["country"] == "France"
        assert (await http.get(where)).json()["runs"][0]["outcome"]["status"] == "done"
    now[0] += 31 * 86400
    opened = store()
    async with talking_to(an_app(), opened) as http:
        await opened.purge()
        for gone in (where, f"/locate/{kept}"):
            assert (await http.get(gone)).status_code == 404


async def test_cases_belong_to_their_key(data_store, tmp_path):
    (tmp_path / "keys").write_text(f"desk {fingerprint('gt_desk')}\npress {fingerprint('gt_press')}\n")
    access = AccessConfig(mode="keys", keys_file=str(tmp_path / "keys"))
    async with talking_to(an_app(access=access), MemoryRunStore(60)) as http:
        desk, press = ({"Authorization": f"Bearer gt_{name}"} for name in ("desk", "press"))
        assert (await http.get("/cases")).status_code == 401
        where = (await http.post("/cases", json={}, headers=desk)).headers["location"]
        assert (await http.get(where, headers=desk)).status_code == 200
        for ask in (http.get, http.delete):
            assert (await ask(where, headers=press)).status_code == 404
        assert (await http.get("/cases", headers=press)).json()["cases"] == []
        theirs = (await http.post("/locate", **FORM, headers=press)).json()["request_id"]
        assert (await http.post(f"{where}/runs", json={"request_id": theirs}, headers=desk)).status_code == 404


async def test_an_invalid_case_is_refused_with_the_wrong_field(http):
    assert (await http.get(NOBODY)).status_code == 404
    assert (await http.get("/cases/../etc")).status_code in (404, 405)
    reply = await http.post("/cases", json={"title": "x" * 201})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "title")
    assert (await http.post("/cases", json={"tag": "x"})).status_code == 422


async def test_without_a_retention_there_are_no_cases(data_store):
    args = an_app().model_copy(update={"cases": CasesConfig(retention_days=0)})
    async with talking_to(args) as http:
        assert (await http.post("/cases", json={})).status_code == 404
        index = (await http.get("/", headers={"Accept": "application/json"})).json()
        assert index["cases"] is None
