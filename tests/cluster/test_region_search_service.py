"""Region search on a real Ray: two Tools replicas, photos that travel to them, and a gateway that shows the region of
whichever replica makes the call."""

import io
import json
import re

import httpx
import numpy as np
import orjson
import pytest
import pytest_asyncio
from PIL import Image
from support.basics import sign_bytes
from support.ports import free_port
from support.provider_server import PUBLIC_URL, config_for, samples
from support.rude_server import RudeServer, as_json, rude_server

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.launch.cluster import serve_configuration
from tts.config import RegionSearchConfig, RoutingConfig, ScriptedEngine

ROLLOUTS = 8
HITS = samples("serper_lens")["/lens"]["reply"]
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


def noise():
    """A photo of some 900 KB: it travels by reference, small ones in the message."""
    out = io.BytesIO()
    pixels = np.random.default_rng(3).integers(0, 255, (600, 800, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    return out.getvalue()


def script(path):
    """Every rollout searches for a region of its own, then answers."""
    turns = []
    for rollout in range(ROLLOUTS):
        call = {"name": "image_search", "arguments": {"bbox": [0, 0, 1, 1 - rollout / 20]}}
        turns.append({"rollout": rollout, "turn": 0, "text": "looking", "calls": [call]})
        turns.append({"rollout": rollout, "turn": 1, "text": '{"lat": 43.2, "lon": 141.0, "country": "Japan"}'})
    path.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


class Lens:
    """A search service that fetches what it is told of through what stands in for the operator's proxy."""

    server: RudeServer

    def __init__(self):
        self.gateway = ""
        self.fetched = {}

    async def __call__(self, seen):
        url = json.loads(seen.body)["url"]
        async with httpx.AsyncClient() as client:
            self.fetched[url] = await client.get(url.replace(PUBLIC_URL, self.gateway))
        return as_json(HITS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lens():
    playing = Lens()
    async with rude_server(playing) as server:
        playing.server = server
        yield playing


@pytest.fixture(scope="module")
def service(tmp_path_factory, data_store, lens):
    folder = tmp_path_factory.mktemp("regions")
    tools = config_for(lens.server, "serper_lens", "offline", region_search=RegionSearchConfig(allowed=True))
    tools = tools.model_copy(update={"cache": f"sqlite:///{folder}/cache.sqlite"})
    base = AppArgs(engine=script(folder / "script.jsonl"), routing=RoutingConfig(method="fixed"))
    gateway = base.gateway.model_copy(update={"port": free_port(), "public_url": PUBLIC_URL})
    two = DeploymentsConfig(tools=DeploymentConfig(replicas=2))
    changes = {"tools": tools, "gateway": gateway, "deployments": two}
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SERPER_API_KEY", "serper-key-of-this-test")
        with serve_configuration(base.model_copy(update=changes)) as running:
            lens.gateway = running.url
            yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service):
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as client:
        yield client


async def locate_photo(http, photo, **fields):
    data = {"n_parallel": str(ROLLOUTS), "depth": "deep", "stop": "none", "include": "full", **fields}
    reply = await http.post("/locate", files={"image": photo}, data=data)
    assert reply.status_code == 200, reply.text
    return reply.json()


def results_of(reply):
    turns = [turn for trajectory in reply["trajectories"] for turn in trajectory["turns"]]
    return [result for turn in turns for result in turn["results"]]


@pytest.mark.parametrize("photo", [sign_bytes("Otaru"), noise()], ids=["small", "large"])
async def test_regions_of_photos_reach_the_service_and_are_gone_after_it(http, lens, photo):
    lens.fetched.clear()
    refused = await locate_photo(http, photo)
    assert {result["failure"]["kind"] for result in results_of(refused)} == {"not_allowed"}
    assert (lens.fetched, refused["left_machine"]) == ({}, None)

    found = await locate_photo(http, photo, allow_region_search="true")
    assert [result["failure"] for result in results_of(found)] == [None] * ROLLOUTS
    assert [reply.status_code for reply in lens.fetched.values()] == [200] * ROLLOUTS
    heights = {Image.open(io.BytesIO(reply.content)).height for reply in lens.fetched.values()}
    assert len(heights) == ROLLOUTS
    for url in lens.fetched:
        assert (await http.get(url.replace(PUBLIC_URL, ""))).status_code == 404
    methods = [request["method"] for request in found["left_machine"]["sent"]]
    assert {method: methods.count(method) for method in methods} == dict.fromkeys(
        ("OFFER", "POST", "SERVE", "WITHDRAW"), ROLLOUTS
    )
    egress_json = json.dumps(found["left_machine"])
    for url in lens.fetched:
        name = re.search(r"[\w-]{43}", url)
        assert name is not None
        assert name[0] not in egress_json


async def test_both_tools_replicas_make_calls_to_the_search_provider(http):
    requests = re.findall(r'geotts_provider_requests_total\{provider="serper_lens",replica="([^"]+)"\} ([\d.]+)',
                          (await http.get("/metrics")).text)  # fmt: skip
    assert len([name for name, count in requests if float(count)]) == 2
