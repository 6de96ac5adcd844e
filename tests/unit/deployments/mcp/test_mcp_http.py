"""`POST /mcp` with the official client, in the current revision of the protocol and in the one before."""

import asyncio
import base64
import json
import random

import httpx
import httpx2
import pytest
from mcp import MCPError
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from support.basics import sign_bytes
from support.mcp_client import mcp_client, upload_photo
from support.redis_server import running_redis
from support.service import PHOTO, an_app, idle, serving

from deployments.config import AccessConfig
from deployments.gateway.auth import fingerprint
from deployments.mcp import tool_execution as mcp_tools
from deployments.mcp.progress import MILESTONES
from deployments.runstore import stored_values
from deployments.runstore.redis import RedisRunStore
from deployments.wiring.local import local_tools
from tts.config import ScriptedEngine

BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])
SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)


@pytest.fixture(scope="module")
def toolbox(data_store):
    return local_tools(an_app()).toolbox


@pytest.fixture
async def service(data_store, toolbox):
    async with serving(an_app(), toolbox=toolbox) as (url, gateway):
        yield url
        await idle(gateway)


@BOTH
async def test_a_photo_is_located_with_progress_and_resources(service, mode):
    notifications = []

    async def progress(done, total, message):
        notifications.append((done, message))

    async with mcp_client(service, mode) as client:
        expected = LATEST_HANDSHAKE_VERSION if mode == "legacy" else LATEST_MODERN_VERSION
        assert client.protocol_version == expected
        ticket = await upload_photo(service, PHOTO)
        given = {"upload": ticket, "n_parallel": 2, "seed": 3}
        found = await client.call_tool("locate_photo", given, progress_callback=progress)
        assert not found.is_error
        place = found.structured_content
        assert place["request_id"].startswith("loc_")
        assert f"{place['lat']:.5f}" in found.content[0].text
        assert {one.name for one in found.content[1:]} == {"map", "report"}
        picture = (await client.read_resource(place["map"])).contents[0]
        assert base64.b64decode(picture.blob).startswith(b"\xff\xd8")
        report = (await client.read_resource(place["report"])).contents[0]
        assert report.mime_type == "text/html"
        assert report.text.startswith("<!doctype html>")
    assert [done for done, _ in notifications] == [float(n) for n in range(1, len(notifications) + 1)]
    messages = [message for _, message in notifications]
    assert messages[0] == f"accepted as {place['request_id']}"
    assert sum("has finished" in message for message in messages) == 2
    assert messages[-1] == "the answer is there"


async def test_only_the_milestones_of_the_log_are_read_and_nothing_is_folded_again(service, monkeypatch):
    reported: list[str] = []
    folded: list[str] = []
    parse = mcp_tools.event_of

    def noting(kinds):
        def noted(entry):
            kinds.append(entry.kind)
            return parse(entry)

        return noted

    monkeypatch.setattr(mcp_tools, "event_of", noting(reported))
    monkeypatch.setattr(stored_values, "event_of", noting(folded))
    async with mcp_client(service) as client:
        found = await client.call_tool("locate_photo", {"upload": await upload_photo(service, PHOTO), "n_parallel": 2})
    assert not found.is_error
    assert (set(reported) <= MILESTONES, reported[0], reported[-1], folded) == (True, "accepted", "answer", [])


@BOTH
async def test_tools_have_schemas_that_their_results_keep_to(service, mode):
    async with mcp_client(service, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"locate_photo", "continue_photo", "geocode", "country_at", "static_map"} <= set(tools)
        assert not {"web_search", "image_search", "read_text", "image_zoom"} & set(tools)
        for tool in tools.values():
            assert tool.output_schema is not None
            assert tool.output_schema["type"] == "object"
            assert tool.annotations.read_only_hint
        assert "$ref" not in json.dumps([tool.input_schema for tool in tools.values()])
        assert "path" not in tools["locate_photo"].input_schema["properties"]
        found = await client.call_tool("country_at", {"latitude": 46.19, "longitude": 9.02})
        assert found.structured_content["facts"][0]["country_code"] == "CH"
        drawn = await client.call_tool("static_map", {"latitude": 46.19, "longitude": 9.02})
        assert [one.type for one in drawn.content] == ["text", "image"]
        wrong = await client.call_tool("geocode", {})
        assert wrong.is_error
        assert "invalid_arguments" in wrong.content[0].text


@BOTH
async def test_a_budget_decides_how_much_a_request_spends(service, mode):
    async with mcp_client(service, mode) as client:
        photo = {"upload": await upload_photo(service, PHOTO), "seed": 3}
        free = (await client.call_tool("locate_photo", {**photo, "n_parallel": 1})).structured_content
        assert free["budget"] is None
        for budget in ("60-tokens", {"tokens": 60}):
            found = await client.call_tool("locate_photo", {**photo, "budget": budget})
            assert not found.is_error
            used = found.structured_content["budget"]
            assert used["budget"] == {"tokens": 60, "seconds": None, "money_usd": None}
            assert 0 < used["tokens"] <= 60
        for tool, claim in (("check_claim", {"claim": "Paris"}), ("compare_places", {"places": ["Paris", "Kharkiv"]})):
            checked = (await client.call_tool(tool, {**photo, **claim, "budget": "20s,5k-tokens"})).structured_content
            assert checked["budget"]["seconds"] <= 20
            assert checked["budget"]["tokens"] <= 5000
        continued = {"request_id": checked["request_id"], "fact": "a rainy day"}
        again = (await client.call_tool("continue_photo", continued)).structured_content
        assert again["budget"]["budget"]["tokens"] == 5000


@BOTH
async def test_several_photos_of_one_place_are_named_in_one_call(service, mode):
    async with mcp_client(service, mode) as client:
        tickets = [await upload_photo(service, sign_bytes(f"Rue {n}")) for n in range(9)]
        found = await client.call_tool("locate_photo", {"upload": tickets[:2], "n_parallel": 1})
        assert not found.is_error
        given = {"request_id": found.structured_content["request_id"], "upload": tickets[2:4]}
        more = (await client.call_tool("continue_photo", given)).structured_content
        assert more["changed"]["why"] == ["you added 2 photos"]
        async with httpx.AsyncClient(headers={"Accept": "application/x-ndjson"}) as http:
            log = (await http.get(f"{service}/locate/{more['request_id']}/events")).text
        assert len(json.loads(log.splitlines()[0])["photos"]) == 4
        full = await client.call_tool(
            "continue_photo", {**given, "request_id": more["request_id"], "upload": tickets[:5]}
        )
        assert full.is_error
        assert "the earlier request has 4 photos; with 5 more" in full.content[0].text
        many = await client.call_tool("locate_photo", {"upload": tickets})
        assert many.is_error
        assert "at most 8 items" in many.content[0].text


@pytest.mark.slow
@BOTH
async def test_a_claim_is_checked_and_places_are_compared(service, mode):
    async with mcp_client(service, mode) as client:
        photo = {"upload": await upload_photo(service, PHOTO), "n_parallel": 1, "seed": 3}
        checked = (await client.call_tool("check_claim", {**photo, "claim": "Paris"})).structured_content
        assert checked["verdict"] in ("supported", "contradicted", "not_decidable")
        assert len(checked["places"]) == 1
        both = {**photo, "places": ["Paris", "Kharkiv"]}
        compared = (await client.call_tool("compare_places", both)).structured_content
        assert len(compared["places"]) == 2
        for wrong in ({"claim": "Xyzzyplugh"}, {}):
            assert (await client.call_tool("check_claim", {**photo, **wrong})).is_error
        assert (await client.call_tool("compare_places", {**photo, "places": ["Paris"]})).is_error


@BOTH
async def test_an_earlier_request_is_continued_with_what_is_known_by_now(service, mode):
    messages = []

    async def progress(done, total, message):
        messages.append(message)

    async with mcp_client(service, mode) as client:
        photo = {"upload": await upload_photo(service, PHOTO), "n_parallel": 2, "seed": 3}
        first = (await client.call_tool("locate_photo", photo)).structured_content
        given = {"request_id": first["request_id"]}
        rejected = await client.call_tool("continue_photo", given, progress_callback=progress)
        place = rejected.structured_content
        assert place["changed"]["continues"] == first["request_id"] != place["request_id"]
        assert place["changed"]["before"]["lat"] == first["lat"]
        assert place["lat"] != first["lat"]
        assert rejected.content[0].text.startswith(place["changed"]["text"])
        assert "ruled out" in place["changed"]["text"]
        assert messages[0] == f"accepted as {place['request_id']}"
        assert messages[-1] == "the answer is there"
        assert (await client.read_resource(place["report"])).contents
        added = {
            "fact": "a rainy day",
            "not_there": "Sofia",
            "within": "FR",
            "upload": await upload_photo(service, PHOTO),
        }
        known = (await client.call_tool("continue_photo", {**given, **added})).structured_content
        why = "; ".join(known["changed"]["why"])
        for words in ("you ruled out Sofia", "a rainy day", "you named an area", "you added a photo"):
            assert words in why
        assert known["check"] is None
        checked = (await client.call_tool("check_claim", {**photo, "claim": "Paris"})).structured_content
        again = {"request_id": checked["request_id"], "fact": "a rainy day"}
        found = (await client.call_tool("continue_photo", again)).structured_content
        assert found["check"]["request_id"] == found["request_id"]
        assert len(found["check"]["places"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "request_id: Field required"),
        ({"request_id": "../x"}, "request_id"),
        ({"request_id": "loc_" + "0" * 20}, "there is no request"),
        ({"not_there": "Xyzzyplugh"}, "not_there: it names no place"),
        ({"not_there": []}, "not_there"),
        ({"within": "Atlantis"}, "Atlantis"),
        ({"fact": "x" * 1001}, "fact"),
        ({"upload": "upl_" + "0" * 32}, "there is no such upload"),
        ({"n_parallel": 3}, "n_parallel: Extra inputs are not permitted"),
    ],
)
async def test_a_continuation_that_is_refused_is_a_result_with_the_reason(service, earlier, arguments, words):
    given = arguments if not arguments or "request_id" in arguments else {"request_id": earlier, **arguments}
    async with mcp_client(service) as client:
        found = await client.call_tool("continue_photo", given)
        assert found.is_error
        assert words in found.content[0].text


@pytest.fixture
async def earlier(service):
    async with httpx.AsyncClient(timeout=30) as http:
        reply = await http.post(f"{service}/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
    return reply.json()["request_id"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "name the photo, by url or upload"),
        ({"url": "https://a.example/1", "upload": "upl_0"}, "name the photo, by url or upload"),
        ({"upload": []}, "name the photo, by url or upload"),
        ({"upload": ["upl_0", "upl_" + "0" * 32]}, "there is no such upload"),
        ({"upload": "upl_0", "budget": "soon"}, "'soon' is not a budget: write 30s"),
        ({"upload": "upl_0", "budget": {"hours": 1}}, "budget"),
        ({"upload": "upl_0", "budget": '{"a":' * 20_000}, "this is not a budget"),
        ({"upload": "upl_0", "budget": "30s", "n_parallel": 2}, "give either a budget or these"),
        ({"upload": "upl_" + "0" * 32}, "there is no such upload"),
        ({"url": "http://127.0.0.1/secret"}, "an https URL is needed"),
        ({"url": "https://127.0.0.1/secret"}, "is no host on the public internet"),
        ({"path": "/etc/passwd"}, "path: Extra inputs are not permitted"),
        ({"upload": "upl_0", "within": "Atlantis"}, "Atlantis"),
        ({"upload": "upl_0", "n_parallel": 99}, "n_parallel"),
    ],
)
async def test_a_wrong_call_is_a_result_that_says_what_to_change(service, arguments, words):
    async with mcp_client(service) as client:
        found = await client.call_tool("locate_photo", arguments)
        assert found.is_error
        assert words in found.content[0].text


async def test_an_upload_that_is_no_photo_is_refused(service):
    async with httpx.AsyncClient() as http:
        ticket = (await http.post(f"{service}/uploads", content=b"no picture")).json()["upload_id"]
        assert (await http.post(f"{service}/uploads", content=b"")).status_code == 422
    async with mcp_client(service) as client:
        assert (await client.call_tool("locate_photo", {"upload": ticket})).is_error
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("geotts://runs/x/map")
        with pytest.raises(MCPError, match="there is no request"):
            await client.read_resource(f"geotts://runs/loc_{'0' * 20}/report")


@BOTH
async def test_a_cancelled_call_stops_the_work(data_store, mode):
    async with serving(an_app(SLOW)) as (url, gateway):
        started: asyncio.Queue[str | None] = asyncio.Queue()

        async def progress(done, total, message):
            started.put_nowait(message)

        async def cancelled_as_it_starts(tool, given):
            async with mcp_client(url, mode) as client:
                call = asyncio.create_task(client.call_tool(tool, given, progress_callback=progress))
                message = await asyncio.wait_for(started.get(), 20)
                assert gateway.in_flight == 1
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                if mode == "auto":  # with the revision before, closing the connection is what stops the work
                    await idle(gateway)
            await idle(gateway)
            while not started.empty():
                started.get_nowait()
            return message.removeprefix("accepted as ")

        earlier = await cancelled_as_it_starts("locate_photo", {"upload": await upload_photo(url, PHOTO)})
        given = {"request_id": earlier, "fact": "in France"}
        assert await cancelled_as_it_starts("continue_photo", given) != earlier
        async with mcp_client(url, mode) as client:
            assert (await client.list_tools()).tools


async def test_mcp_requires_a_key_and_tickets_and_runs_belong_to_the_key(data_store, tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint('gt_desk')}\nother {fingerprint('gt_other')}\n")
    async with serving(an_app(access=AccessConfig(mode="keys", keys_file=str(path)))) as (url, _):
        async with httpx.AsyncClient() as http:
            assert (await http.post(f"{url}/mcp", json={})).status_code == 401
            assert (await http.post(f"{url}/uploads", content=PHOTO)).status_code == 401
        ticket = await upload_photo(url, PHOTO, "gt_desk")
        async with mcp_client(url, key="gt_other") as other:
            assert (await other.call_tool("locate_photo", {"upload": ticket})).is_error
        async with mcp_client(url, key="gt_desk") as desk:
            place = (await desk.call_tool("locate_photo", {"upload": ticket})).structured_content
            assert (await desk.read_resource(place["report"])).contents
        async with mcp_client(url, key="gt_other") as other:
            with pytest.raises(MCPError, match="there is no request"):
                await other.read_resource(place["report"])
            refused = await other.call_tool("continue_photo", {"request_id": place["request_id"]})
            assert refused.is_error
            assert "there is no request" in refused.content[0].text


async def test_pages_of_other_sites_and_other_host_names_are_refused(service):
    async with httpx.AsyncClient(base_url=service) as http:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            assert (await http.post("/mcp", json={}, headers=headers)).status_code == 403
            assert (await http.post("/uploads", content=PHOTO, headers=headers)).status_code == 403


@pytest.mark.slow
@BOTH
async def test_two_gateways_on_redis_serve_one_client_in_turn(data_store, tmp_path, mode):
    with running_redis(tmp_path) as redis_url:
        prefix = f"test{random.getrandbits(32)}"
        first, second = (serving(an_app(), RedisRunStore(redis_url, 3600, prefix=prefix)) for _ in range(2))
        async with first as (a, one), second as (b, two):
            ticket = await upload_photo(b, PHOTO)
            turns = _InTurn([a, b])
            async with mcp_client(a, mode, transport=turns) as client:
                found = await client.call_tool("locate_photo", {"upload": ticket, "n_parallel": 1})
                reports = [await client.read_resource(found.structured_content["report"]) for _ in range(2)]
            assert len({report.contents[0].text for report in reports}) == 1
            assert set(turns.asked) == {a, b}
            await asyncio.gather(idle(one), idle(two))


class _InTurn(httpx2.AsyncHTTPTransport):
    """Sends each request to the next of several servers."""

    def __init__(self, urls):
        super().__init__()
        self._urls = urls
        self.asked = []

    async def handle_async_request(self, request):
        url = self._urls[len(self.asked) % len(self._urls)]
        self.asked.append(url)
        request.url = request.url.copy_with(port=int(url.rpartition(":")[2]))
        request.headers["host"] = url.partition("//")[2]
        return await super().handle_async_request(request)


async def test_an_upload_is_gone_after_its_retention(data_store, monkeypatch):
    monkeypatch.setattr("deployments.gateway.uploads.KEPT_S", -1.0)
    async with serving(an_app()) as (url, gateway):
        ticket = await upload_photo(url, PHOTO)
        async with mcp_client(url) as client:
            assert "no such upload" in (await client.call_tool("locate_photo", {"upload": ticket})).content[0].text
        await upload_photo(url, PHOTO)
        assert await gateway.store.meta(ticket) is None


async def test_place_tools_are_not_offered_with_max_precision(data_store, toolbox):
    async with serving(an_app(max_precision="country"), toolbox=toolbox) as (url, _), mcp_client(url, "auto") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "locate_photo" in names
        assert "poi_keyword_search" not in names
        assert (await client.call_tool("poi_keyword_search", {"query": "Bellinzona"})).is_error
