"""What every provider owes the tools: normalised results, typed errors in time, keys kept to itself."""

import asyncio
import re
import time

import pytest
from support.basics import a_context
from support.provider_calls import REGION, REGIONS, call
from support.provider_server import FIXTURES, KEYS, answer_with_samples, samples, served_providers

from tools.places import PlacesProvider
from tools.provider_lookup import key_variable
from tts.domain.geo import LatLon, distance_km
from tts.domain.request import LocateOptions
from tts.domain.tooling import PlaceFact, ToolCall, ViewFact, WebFact
from tts.errors import ConfigError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore

PLACES = ("amap", "google", "osm", "serper", "opencage")
MAPS = ("amap", "google", "osm")
WEB = ("serper", "tavily", "ydc", "brave", "searxng")
KEYED = {name: KEYS[key_variable(name)] for name in (*PLACES, *WEB, *REGIONS) if key_variable(name)}


PLACE_CALLS = {
    "poi_keyword_search": {"query": "北京"},  # Chinese characters: who covers China is asked, where it is set up
    "poi_input_tips": {"query": "北京"},
    "geocode": {"address": "北京"},
    "reverse_geocode": {"latitude": 39.99, "longitude": 116.31},
}
IDS = {
    "amap": "B000A816R6",
    "google": "ChIJs5ydyTiuEmsR0fRSlU0C7k0",
    "osm": "node/107775",
    "serper": "cid:16917156524996281151",
    "opencage": "oc:39.906217,116.391276",
}


@pytest.mark.parametrize("provider", PLACES)
@pytest.mark.parametrize("tool", [*PLACE_CALLS, "poi_detail"])
async def test_places_are_normalised(provide, provider, tool):
    async with provide(provider) as (_, catalog):
        result = (await call(catalog, tool, **PLACE_CALLS.get(tool, {"poi_id": IDS[provider]}))).result
    assert result.ok, result.text
    for fact in result.facts:
        assert isinstance(fact, PlaceFact)
        assert fact.id
        assert fact.name
        assert fact.source
        assert fact.datum == "WGS-84"
        assert fact.name in result.text
        assert re.fullmatch(r"([A-Z]{2})?", fact.country_code)
    assert (result.facts[0].point is None) == (tool == "poi_input_tips")
    assert result.retrieved_at.endswith("Z")


@pytest.mark.parametrize(("provider", "place_id"), IDS.items())
async def test_ids_of_searches_lead_to_details_and_are_told_apart(provide, provider, place_id):
    async with provide(*PLACES) as (_, catalog):
        assert (await call(catalog, "poi_detail", poi_id="not an id of anybody")).result.failure is not None
    async with provide(provider) as (_, catalog):
        found = (await call(catalog, "poi_keyword_search", query="北京")).result.facts[0]
        assert (await call(catalog, "poi_detail", poi_id=found.id)).result.ok
    others = [name for name in PLACES if name != provider]
    from tools.providers import amap, google, opencage, osm, serper

    owners: dict[str, type[PlacesProvider]] = {
        "amap": amap.Amap,
        "google": google.Google,
        "osm": osm.OsmPlaces,
        "serper": serper.SerperPlaces,
        "opencage": opencage.OpenCagePlaces,
    }
    assert owners[provider].owns(None, place_id)
    assert not any(owners[other].owns(None, place_id) for other in others)


@pytest.mark.parametrize("provider", MAPS)
async def test_maps_are_pictures_with_the_point_in_the_middle(provide, provider):
    async with provide(provider) as (server, catalog):
        outcome = await call(catalog, "static_map", latitude=48.2, longitude=16.37, zoom=15)
        assert outcome.result.ok, outcome.result.text
        (fact,) = outcome.result.facts
        assert isinstance(fact, ViewFact)
        assert fact.point == LatLon(lat=48.2, lon=16.37)
        assert outcome.attachments[0].sha256 == fact.image.sha256
        assert server.seen


@pytest.mark.parametrize("provider", WEB)
async def test_web_hits_are_normalised(provide, provider):
    async with provide(provider) as (_, catalog):
        result = (await call(catalog, "web_search", query=["one", "two"])).result
    assert result.ok, result.text
    facts = result.facts
    assert [fact.number for fact in facts] == list(range(1, len(facts) + 1))
    assert [fact.query for fact in facts] == sorted((fact.query for fact in facts), key=["one", "two"].index)
    for fact in facts:
        assert isinstance(fact, WebFact)
        assert fact.url.startswith("https://")
        assert fact.title
        assert not re.search(r"<\w+>|&amp;", fact.title + fact.snippet)


FAULTS = {
    "status/500": {ToolErrorKind.UNAVAILABLE},
    "status/418": {ToolErrorKind.BLOCKED},
    "garbage": {ToolErrorKind.UNAVAILABLE},
    "half": {ToolErrorKind.UNAVAILABLE},
    "reset": {ToolErrorKind.UNAVAILABLE},
    "huge": {ToolErrorKind.UNAVAILABLE},
    "silence": {ToolErrorKind.TIMEOUT},
    "type/text/html": {ToolErrorKind.UNAVAILABLE},
    "type/application/json": {ToolErrorKind.UNAVAILABLE},
    "retry/429/600": {ToolErrorKind.RATE_LIMITED},
    "status/401": {ToolErrorKind.QUOTA, ToolErrorKind.UNAVAILABLE},
    "redirect?to=http://169.254.169.254/": {ToolErrorKind.BLOCKED},
}
EACH = [
    *((name, "poi_keyword_search") for name in PLACES),
    *((name, "web_search") for name in WEB),
    *((name, "image_search") for name in REGIONS),
]
ASKED = {"poi_keyword_search": {"query": "北京"}, "web_search": {"query": "北京"}, "image_search": REGION}


@pytest.mark.parametrize(("provider", "tool"), EACH)
async def test_every_fault_is_a_typed_error_and_the_next_call_works(provide, provider, tool):
    behaviour = [""]
    well = answer_with_samples(provider)

    def answer(seen):
        if behaviour[0].startswith("redirect"):
            return 302, {"location": behaviour[0].partition("=")[2]}, b""
        return behaviour[0] or well(seen)

    for fault, kinds in FAULTS.items():
        async with provide(provider, answer=answer, timeout_s=0.5 if fault == "silence" else 14.0) as (_, catalog):
            behaviour[0] = fault
            started = time.perf_counter()
            failure = (await call(catalog, tool, **ASKED[tool])).result.failure
            assert failure is not None, fault
            assert failure.kind in kinds, (fault, failure)
            assert time.perf_counter() - started < 16, fault
            behaviour[0] = ""
            if fault not in ("status/401", "retry/429/600"):  # the key is dropped, the service paused
                assert (await call(catalog, tool, **ASKED[tool])).result.ok, fault


@pytest.mark.parametrize(("provider", "tool"), EACH)
async def test_a_key_is_sent_where_the_service_wants_it_and_shows_nowhere_else(provide, provider, tool, caplog):
    caplog.set_level(0)
    async with provide(provider) as (server, catalog):
        outcome = await call(catalog, tool, **ASKED[tool])
        key = KEYED.get(provider)
        shown = repr(outcome) + caplog.text + repr(catalog.figures())
    if key is None:
        assert provider in ("osm", "searxng")
        return
    assert any(key in value for value in (*server.seen[0].headers.values(), server.seen[0].target))
    assert key not in shown


async def test_the_points_of_amap_are_converted_once_in_each_direction(provide):
    true = LatLon(lat=39.99140, lon=116.30470)  # the same spot in WGS-84, to ten metres
    native = LatLon(lat=39.992806, lon=116.310905)
    async with provide("amap") as (server, catalog):
        shown = (await call(catalog, "poi_keyword_search", query="北京大学")).result.facts[0]
        assert shown.datum == "WGS-84"
        assert distance_km(shown.point, true) < 0.03
        await call(catalog, "static_map", zoom=15, latitude=shown.point.lat, longitude=shown.point.lon)
        lon, lat = map(float, server.seen[-1].query["location"].split(","))
        assert distance_km(LatLon(lat=lat, lon=lon), native) < 0.001


@pytest.mark.parametrize(
    ("tool", "arguments", "asked"),
    [
        ("poi_keyword_search", {"query": "北京大学"}, "amap"),
        ("poi_keyword_search", {"query": "Peking University", "country": "CN"}, "amap"),
        ("poi_keyword_search", {"query": "Peking University"}, "google"),
        ("poi_keyword_search", {"query": "東京タワー"}, "google"),
        ("reverse_geocode", {"latitude": 39.99, "longitude": 116.31}, "amap"),
        ("reverse_geocode", {"latitude": 22.28, "longitude": 114.16}, "google"),
        ("static_map", {"latitude": 31.2, "longitude": 121.5}, "amap"),
        ("static_map", {"latitude": 35.68, "longitude": 139.77}, "google"),
        ("satellite_map", {"latitude": 31.2, "longitude": 121.5}, "google"),
        ("poi_detail", {"poi_id": "B000A816R6"}, "amap"),
        ("poi_detail", {"poi_id": IDS["google"]}, "google"),
    ],
)
async def test_queries_about_china_go_to_amap_and_others_to_google(provide, tool, arguments, asked):
    async with provide("google", "amap") as (server, catalog):
        assert (await call(catalog, tool, **arguments)).result.ok
        assert ("/v3/" in server.seen[0].path) == (asked == "amap")


async def test_a_chinese_name_unknown_in_china_is_looked_for_elsewhere(provide):
    well = answer_with_samples("google")

    def answer(seen):
        if seen.path.startswith("/v3/"):
            return 200, {"content-type": "application/json"}, b'{"status":"1","infocode":"10000","pois":[]}'
        return well(seen)

    async with provide("amap", "google", answer=answer) as (server, catalog):
        assert (await call(catalog, "poi_keyword_search", query="唐人街")).result.ok
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("provider", "reply", "kind"),
    [
        ("amap", {"status": "0", "info": "DAILY_QUERY_OVER_LIMIT", "infocode": "10003"}, ToolErrorKind.QUOTA),
        ("amap", {"status": "0", "info": "INVALID_USER_KEY", "infocode": "10001"}, ToolErrorKind.QUOTA),
        (
            "amap",
            {"status": "0", "info": "CUQPS_HAS_EXCEEDED_THE_LIMIT", "infocode": "10021"},
            ToolErrorKind.RATE_LIMITED,
        ),
        ("amap", {"status": "0", "info": "ENGINE_RESPONSE_DATA_ERROR", "infocode": "30001"}, ToolErrorKind.UNAVAILABLE),
        ("amap", {"status": "0", "info": "INVALID_PARAMS", "infocode": "20000"}, ToolErrorKind.BLOCKED),
        ("google", {"status": "OVER_DAILY_LIMIT", "results": []}, ToolErrorKind.QUOTA),
        ("google", {"status": "OVER_QUERY_LIMIT", "results": []}, ToolErrorKind.RATE_LIMITED),
        ("google", {"status": "REQUEST_DENIED", "results": []}, ToolErrorKind.QUOTA),
        ("google", {"status": "UNKNOWN_ERROR", "results": []}, ToolErrorKind.UNAVAILABLE),
        ("google", {"status": "ZERO_RESULTS", "results": []}, ToolErrorKind.NOT_FOUND),
        ("google_vision", {"responses": [{"error": {"code": 3, "message": "Bad image data."}}]}, ToolErrorKind.BLOCKED),
        ("google_vision", {"responses": [{"error": {"code": 8, "message": "x"}}]}, ToolErrorKind.RATE_LIMITED),
        ("google_vision", {"responses": [{"error": {"code": 14, "message": "x"}}]}, ToolErrorKind.UNAVAILABLE),
        ("google_vision", {"responses": []}, ToolErrorKind.UNAVAILABLE),
        ("google_vision", {"responses": [{}]}, ToolErrorKind.NOT_FOUND),
        ("serpapi_lens", {"error": "Google Lens couldn't fetch the image."}, ToolErrorKind.UNAVAILABLE),
        (
            "serpapi_lens",
            {"error": "Google Lens hasn't returned any results for this query."},
            ToolErrorKind.NOT_FOUND,
        ),
        ("serper_lens", {"organic": []}, ToolErrorKind.NOT_FOUND),
    ],
)
async def test_errors_that_come_with_status_200_are_understood(provide, provider, reply, kind):
    from support.rude_server import as_json

    asked = ("image_search", REGION) if provider in REGIONS else ("geocode", {"address": "北京"})
    async with provide(provider, answer=lambda seen: as_json(reply)) as (_, catalog):
        assert (await call(catalog, asked[0], **asked[1])).result.failure.kind is kind


async def test_used_up_credits_rotate_the_keys(provide, monkeypatch):
    from support.rude_server import as_json

    monkeypatch.setitem(KEYS, "SERPER_API_KEY", "used-up-key, fresh-key")

    def answer(seen):
        if seen.headers["x-api-key"] == "used-up-key":
            return as_json({"message": "Not enough credits", "statusCode": 400}, status=400)
        return as_json(samples("serper")["/search"]["reply"])

    async with provide("serper", answer=answer) as (server, catalog):
        assert (await call(catalog, "web_search", query="x")).result.ok
        assert catalog.figures()["serper"].usable_keys == 1
    assert [seen.headers["x-api-key"] for seen in server.seen] == ["used-up-key", "fresh-key"]


async def test_the_next_web_search_provider_serves_if_the_first_fails(provide):
    well = answer_with_samples("brave")
    answer = lambda seen: "status/503" if seen.path == "/search" else well(seen)  # noqa: E731
    async with provide("tavily", "brave", answer=answer) as (_, catalog):
        result = (await call(catalog, "web_search", query="x")).result
    assert result.facts[0].source == "Brave"


async def test_photo_hosts_are_hidden_on_request_from_the_same_cached_hits(provide):
    from support.rude_server import as_json

    hits = [
        {"title": f"hit {i}", "url": url, "content": "c"}
        for i, url in enumerate(
            ["https://www.flickr.com/p/1", "https://example.com/a", "https://live.staticflickr.com/2", "https://b.org/"]
        )
    ]
    async with provide("searxng", answer=lambda seen: as_json({"results": hits})) as (server, catalog):
        broker = Broker(catalog.tools, MemoryStore())
        ask = ToolCall(id="c", name="web_search", arguments={"query": "x"})
        everything = (await broker.call(ask, ToolContext(a_context()))).result
        hidden = (await broker.call(ask, ToolContext(a_context(), options=LocateOptions(hide_photo_hosts=True)))).result
    assert [fact.url for fact in everything.facts] == [hit["url"] for hit in hits]
    assert [(fact.number, fact.url) for fact in hidden.facts] == [(1, hits[1]["url"]), (2, hits[3]["url"])]
    assert "flickr" not in hidden.text
    assert len(server.seen) == 1


async def test_public_servers_get_a_user_agent_that_names_geotts(provide):
    async with provide("osm") as (server, catalog):
        await call(catalog, "poi_keyword_search", query="x")
    assert server.seen[0].headers["user-agent"].startswith("geotts/")


async def test_no_provider_gets_the_id_of_the_request_or_the_hash_of_the_photo(provide, sign_photo):
    context = ToolContext(a_context(), (sign_photo,), LocateOptions(allow_region_search=True))
    async with provide(*PLACES, *WEB, *REGIONS, "offline") as (server, catalog):
        for tool, arguments in ASKED.items():
            await call(catalog, tool, context=context, **arguments)
    assert "/lens" in [seen.path for seen in server.seen]
    for seen in server.seen:
        request_text = f"{seen.target} {seen.headers} {seen.body.decode()}"
        assert "loc_test" not in request_text
        assert sign_photo.sha256[:12] not in request_text


async def test_the_error_for_a_missing_key_names_its_variable(provide, monkeypatch):
    monkeypatch.delitem(KEYS, "TAVILY_API_KEY")
    with pytest.raises(ConfigError, match="TAVILY_API_KEY"):
        async with provide("tavily"):
            pass


async def test_offline_needs_no_provider_and_no_key(gazetteer, countries):
    async with served_providers("offline", gazetteer=gazetteer, countries=countries) as (server, catalog):
        assert (await call(catalog, "poi_keyword_search", query="Coimbra")).result.ok
        assert catalog.provider_clients == {}
    assert server.seen == []


async def test_siblings_are_unaffected_by_a_provider_that_hangs(provide):
    async with provide("searxng", answer=lambda seen: "silence", timeout_s=1.0) as (_, catalog):
        broker = Broker(catalog.tools, MemoryStore())
        ask = lambda name, **a: broker.call(ToolCall(id="c", name=name, arguments=a), ToolContext(a_context()))  # noqa: E731
        hanging = asyncio.ensure_future(ask("web_search", query="x"))
        await asyncio.sleep(0)
        assert (await ask("poi_keyword_search", query="Coimbra")).result.ok
        assert not hanging.done()
        assert (await hanging).result.failure.kind is ToolErrorKind.TIMEOUT


def test_every_sample_reply_names_the_page_it_was_taken_from():
    for path in FIXTURES.glob("*.json"):
        for entry in samples(path.stem).values():
            assert entry["page"].startswith("https://")
