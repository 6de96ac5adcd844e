"""GeoAgent as released, in a service: its answers are looked up by OpenCage, or by a provider that stands in."""

import json

import httpx
import pytest
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from support.provider_server import KEYS, answer_with_samples, config_for
from support.rude_server import rude_server
from support.service import PHOTO, serving

from deployments.config import load_config
from deployments.wiring.local import local_tools
from tts.config import ToolsConfig
from tts.domain.geo import LatLon, distance_km
from tts.profiles import load_profile

GEOCODER = "geocode.geoagent.opencage"
BEIJING = LatLon(lat=39.906217, lon=116.391276)


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
