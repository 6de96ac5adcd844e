"""What tools send is reported while their call runs: it is known when a request is cancelled or a replica is lost."""

import asyncio
import json

import httpx
import orjson
import pytest
import pytest_asyncio
from support.basics import sign_bytes
from support.ports import free_port
from support.replicas import replicas_of
from support.rude_server import as_json, rude_server

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.launch.cluster import serve_configuration
from tts.config import ProviderSettings, RoutingConfig, ScriptedEngine, ToolsConfig

PHOTO = sign_bytes("Calle Mayor")
ANSWER = '{"lat": 40.4, "lon": -3.7, "city": "Madrid", "country": "Spain"}'
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


class Search:
    """A search service that answers at once, or only when it is told to."""

    def __init__(self):
        self.arrived = asyncio.Event()
        self.may_answer = asyncio.Event()

    def hold(self):
        self.arrived.clear()
        self.may_answer.clear()

    async def __call__(self, seen):
        self.arrived.set()
        await self.may_answer.wait()
        return as_json({"results": [{"title": "Tiles", "url": "https://example.com", "content": "tiles of Madrid"}]})


def script(path, query):
    call = {"name": "web_search", "arguments": {"query": query}}
    turns = [
        {"rollout": 0, "turn": 0, "text": "looking", "calls": [call]},
        {"rollout": 0, "turn": 1, "text": ANSWER},
    ]
    path.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outside():
    search = Search()
    async with rude_server(search) as server:
        yield search, server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(outside, tmp_path_factory, data_store):
    _, server = outside
    folder = tmp_path_factory.mktemp("tools")
    tools = ToolsConfig(
        providers=("searxng", "offline"),
        settings={"searxng": ProviderSettings(base_url=server.url, retries=0, per_s=1000.0, burst=1000.0)},
        ttl_s={"web_search": 0.0},
        outgoing_log=str(folder / "outgoing.jsonl"),
    )
    base = AppArgs(
        engine=script(folder / "script.jsonl", "tiles"), routing=RoutingConfig(method="fixed", stop="none"), tools=tools
    )
    gateway = base.gateway.model_copy(update={"port": free_port()})
    apart = DeploymentsConfig(tools=DeploymentConfig(replicas=2))
    args = base.model_copy(update={"gateway": gateway, "deployments": apart})
    running = serve_configuration(args)
    service = await asyncio.to_thread(running.__enter__)
    async with httpx.AsyncClient(base_url=service.url, timeout=90) as client:
        yield client
    await asyncio.to_thread(running.__exit__, None, None, None)


async def start_request(http, search):
    """The path of a request whose search is out and not answered."""
    search.hold()
    data = {"n_parallel": "1", "include": "full"}
    reply = await http.post(
        "/locate", files={"image": PHOTO}, data=data, headers={"Prefer": "respond-async", "Cache-Control": "no-cache"}
    )
    async with asyncio.timeout(30):
        await search.arrived.wait()
    return reply.headers["location"]


async def events_of(http, path, type_):
    """The events of a type, when the request has ended."""
    events = await http.get(path + "/events", headers={"Accept": "application/x-ndjson"})
    found = [json.loads(line) for line in events.text.splitlines() if line.strip()]
    return [event for event in found if event["type"] == type_]


async def test_a_search_that_is_out_when_the_request_is_cancelled_is_reported(http, outside):
    search, server = outside
    before = len(server.seen)
    path = await start_request(http, search)
    assert (await http.delete(path)).json()["was_running"]
    (egress,) = await events_of(http, path, "left_machine")
    search.may_answer.set()
    assert len(egress["sent"]) == len(server.seen) - before == 1
    assert egress["complete"]


async def test_a_lost_replica_makes_the_list_incomplete_and_the_search_is_made_again(http, outside):
    search, server = outside
    before = len(server.seen)
    path = await start_request(http, search)
    for replica in replicas_of("Tools"):
        replica.kill()
    await asyncio.sleep(0.5)
    search.may_answer.set()
    (egress,) = await events_of(http, path, "left_machine")
    (result,) = [event["result"] for event in await events_of(http, path, "tool_result")]
    assert result["failure"] is None
    assert len(server.seen) - before == 2
    assert len(egress["sent"]) in (1, 2)  # the lost replica may have had no time to report its search
    assert egress["complete"] is False
