"""What the gateway asks of all Tools replicas at once: erasing, what left the machine, figures. Two real replicas."""

import httpx
import orjson
import pytest
import pytest_asyncio
from support.basics import sign_bytes
from support.ports import free_port
from support.rude_server import rude_server
from support.service import samples

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.launch.cluster import serve_configuration
from tts.config import ProviderSettings, RoutingConfig, ScriptedEngine, TapeConfig, ToolsConfig
from tts.domain.photo import Box
from tts.domain.photo_cleaning import load_photo
from tts.domain.tooling import WebFact
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.reverse_layout import export_reverse
from tts.toolkit.tape.similar_searches import SearchTape

PHOTO = sign_bytes("Calle Mayor")
OTHER = sign_bytes("Via Roma")
ROLLOUTS = 12
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


def script(path):
    """Every rollout looks for the photo and for words of its own, then answers."""
    answer = '{"lat": 40.4, "lon": -3.7, "city": "Madrid", "country": "Spain"}'
    turns = []
    for rollout in range(ROLLOUTS):
        calls = [
            {"name": "image_search", "arguments": {"bbox": [0, 0, 1, 1 - rollout / 100]}},
            {"name": "web_search", "arguments": {"query": f"tiles {rollout}"}},
        ]
        turns.append({"rollout": rollout, "turn": 0, "text": "looking", "calls": calls})
        turns.append({"rollout": rollout, "turn": 1, "text": answer})
    path.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tools")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outside():
    async with rude_server(lambda seen: "status/503") as server:
        yield server


@pytest.fixture(scope="module")
def service(folder, data_store, outside):
    sights = SearchTape()
    for photo in (PHOTO, OTHER):
        hit = WebFact(number=1, title="a telling sight", url="https://example.com")
        sights.add_picture(load_photo(photo).sha256, Box(x0=0, y0=0, x1=1, y1=1), (hit,))
    export_reverse(sights, folder / "sights")
    (folder / "kept").mkdir()
    tools = ToolsConfig(
        providers=("searxng", "tape", "offline"),
        settings={
            "searxng": ProviderSettings(base_url=outside.url, retries=0, per_s=1000.0, burst=1000.0),
            "tape": ProviderSettings(path=str(folder / "sights")),
        },
        cache=f"sqlite:///{folder}/kept/cache.sqlite",
        outgoing_log=str(folder / "kept" / "outgoing.jsonl"),
        tape=TapeConfig(path=str(folder / "kept" / "run.tape"), mode="record"),
    )
    base = AppArgs(engine=script(folder / "script.jsonl"), routing=RoutingConfig(method="fixed"), tools=tools)
    gateway = base.gateway.model_copy(update={"port": free_port()})
    two = DeploymentsConfig(tools=DeploymentConfig(replicas=2))
    with serve_configuration(base.model_copy(update={"gateway": gateway, "deployments": two})) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service):
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as client:
        yield client


async def locate_photo(http, photo):
    data = {"n_parallel": str(ROLLOUTS), "depth": "deep", "stop": "none", "include": "full"}
    reply = await http.post("/locate", files={"image": photo}, data=data)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def test_egress_and_metrics_come_from_every_replica_and_erasures_reach_them_all(http, folder, outside):
    mine, other = await locate_photo(http, PHOTO), await locate_photo(http, OTHER)
    seen = samples((await http.get("/metrics")).text)
    requests = {name: n for name, n in seen.items() if name.startswith("geotts_provider_requests_total")}
    assert seen["geotts_broker_replicas"] == 2
    assert len(requests) == 2
    assert all(requests.values()), "one replica got no call: ask with more rollouts"
    outgoing = [*mine["left_machine"]["sent"], *(other["left_machine"] or {"sent": []})["sent"]]
    assert len(outgoing) == len(outside.seen) == sum(requests.values())
    assert {one["host"] for one in outgoing} == {"127.0.0.1"}

    def traces(*words):
        files = [path for path in (folder / "kept").iterdir() if path.is_file()]
        return {path.name for path in files if any(word.encode() in path.read_bytes() for word in words)}

    photo = load_photo(PHOTO).sha256
    assert traces(photo) >= {"run.tape"}
    assert (await http.delete(f"/locate/{mine['request_id']}?erase=true")).json()["erased"]
    assert traces(photo, mine["request_id"]) == set()
    assert {row.photos for row in read_tape(folder / "kept" / "run.tape").rows} == {(load_photo(OTHER).sha256,)}

    again = await locate_photo(http, PHOTO)  # no replica answers from what it remembered: the tape has every call again
    assert len([row for row in read_tape(folder / "kept" / "run.tape").rows if row.photos == (photo,)]) >= ROLLOUTS
    assert not any(result["cached"] for result in image_results(again))


def image_results(reply):
    turns = [turn for trajectory in reply["trajectories"] for turn in trajectory["turns"]]
    return [result for turn in turns for result in turn["results"] if result["name"] == "image_search"]
