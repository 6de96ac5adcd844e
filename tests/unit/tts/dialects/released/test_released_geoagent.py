"""GeoAgent as released: its answers are looked up by OpenCage, by name, or by a stand-in of OpenCage's form."""

import json

import httpx
import pytest
from support.basics import a_context
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from support.provider_server import KEYS, answer_with_samples, config_for, served_providers
from support.rude_server import as_json, rude_server
from support.service import PHOTO, serving

from deployments.config import load_config
from deployments.wiring.local import local_tools
from tts.config import ToolsConfig
from tts.domain.geo import LatLon, distance_km
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.profiles import load_profile
from tts.toolkit.toolbox import LocalToolbox

GEOCODER = "geocode.geoagent.opencage"
BEIJING = LatLon(lat=39.906217, lon=116.391276)
NOTHING = {"results": [], "status": {"code": 200, "message": "OK"}, "total_results": 0}


def as_model(answer):
    return lambda body, number: text_chunks(json.dumps({"ChainOfThought": {}, "FinalAnswer": answer}))


async def locate_photo(answer, tools):
    """The whole way over HTTP, with the profile and these providers: what the service answers."""
    async with an_endpoint(as_model(answer)) as endpoint:
        tree = load_profile("geoagent").tree(model="", endpoint=endpoint.url)
        args = load_config(None, {"routing": {"method": "fixed"}}, profile=tree)
        args = args.model_copy(update={"tools": tools})
        async with serving(args, tools=local_tools(args)) as (url, _), httpx.AsyncClient(timeout=30) as http:
            data = {"depth": "deep", "n_parallel": "1", "seed": "1", "include": "full"}
            reply = await http.post(f"{url}/locate", files={"image": PHOTO}, data=data)
    assert reply.status_code == 200, reply.text
    return reply.json()


@pytest.fixture
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("answer", ["China; Beijing; Beijing", "中国；北京；天安门"])
async def test_the_answer_is_looked_up_by_opencage_wherever_it_stands_among_the_providers(data_store, keys, answer):
    async with rude_server(answer_with_samples("google", "amap", "opencage")) as server:
        reply = await locate_photo(answer, config_for(server, "amap", "google", "offline", "opencage"))
        asked = [(seen.path, seen.query) for seen in server.seen]
    assert {path for path, _ in asked} == {"/geocode/v1/json"}
    ((_, query),) = asked
    assert query["q"] == answer.replace(";", ",").replace("；", ",")
    assert (query["language"], query["limit"]) == ("en", "1")
    assert distance_km(LatLon(lat=reply["answer"]["lat"], lon=reply["answer"]["lon"]), BEIJING) < 0.1
    assert not any("OpenCage" in warning for warning in reply["answer"]["warnings"])


async def test_without_opencage_the_first_provider_stands_in_and_the_answer_says_so(data_store):
    reply = await locate_photo("Japan; Hokkaido; Otaru", ToolsConfig(providers=("offline",)))
    assert (
        distance_km(LatLon(lat=reply["answer"]["lat"], lon=reply["answer"]["lon"]), LatLon(lat=43.19, lon=140.99)) < 5
    )
    assert any("OPENCAGE_API_KEY" in warning for warning in reply["answer"]["warnings"])
    assert GEOCODER in json.dumps(reply["trajectories"])


async def found_with(catalog, address):
    outcome = await LocalToolbox(catalog.tools).call(
        ToolCall(id="c", name=GEOCODER, arguments={"address": address}), ToolContext(a_context())
    )
    return outcome.result, json.loads(outcome.result.text)


async def test_the_stand_in_answers_in_the_form_of_opencage(gazetteer, countries):
    async with served_providers("opencage", gazetteer=gazetteer, countries=countries, system="geoagent") as (
        _,
        catalog,
    ):
        _, of_opencage = await found_with(catalog, "China; Beijing")
    async with served_providers("offline", gazetteer=gazetteer, countries=countries, system="geoagent") as (_, catalog):
        result, stood_in = await found_with(catalog, "Japan; Hokkaido; Otaru")
        missing, error = await found_with(catalog, "Qqqxx; Zzzxx")
    assert stood_in.keys() == of_opencage.keys()
    assert stood_in["components"].keys() >= {"_type", "country_code"}
    (fact,) = result.facts
    assert (fact.name, fact.country_code) == ("Otaru", "JP")
    assert error == {"status": "error", "code": 200, "message": "OK", "address": "Qqqxx"}
    assert missing.failure.kind == "not_found"


async def test_a_lookup_drops_the_last_part_of_a_name_until_something_is_found(gazetteer, countries):
    found = answer_with_samples("opencage")

    def answer(seen):
        return as_json(NOTHING) if "Nowhere" in seen.query["q"] else found(seen)

    async with served_providers(
        "opencage", gazetteer=gazetteer, countries=countries, system="geoagent", answer=answer
    ) as (
        server,
        catalog,
    ):
        result, _ = await found_with(catalog, "China; Beijing; Nowhere 5")
        assert [seen.query["q"] for seen in server.seen] == ["China, Beijing, Nowhere 5", "China, Beijing"]
    assert result.ok
