"""What left the machine, across processes: calls of Rollout and Verifier replicas, photos the gateway fetched."""

import asyncio
import json

import httpx
import pytest
import pytest_asyncio
from support.basics import sign_bytes
from support.endpoint import serving, text_chunks
from support.ports import free_port
from support.rude_server import rude_server

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import serve_configuration
from tts.config import OpenAIEngine, RoutingConfig, ToolsConfig, VerifierConfig

ANSWER = '{"lat": 40.4, "lon": -3.7, "city": "Madrid", "country": "Spain"}'
OPINION = '{"reasons": [{"text": "it is written", "evidence": []}], "choice": "A"}'
SLOW = "answer slowly"
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


def reply_of_model(body, number):
    if body["model"] == "verifier":
        return text_chunks(OPINION)
    return [30.0, *text_chunks(ANSWER)] if SLOW in json.dumps(body) else text_chunks(ANSWER)


def photos(seen):
    moved = (302, {"location": "/photo"}, b"")
    photo = (200, {"content-type": "image/jpeg"}, sign_bytes("Calle Mayor"))
    return {"/moved": moved, "/photo": photo}.get(seen.path, "status/404")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outside():
    """An engine and a server with photos: everything there is to send to."""
    async with serving(reply_of_model) as endpoint, rude_server(photos) as pictures:
        yield endpoint, pictures


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("left") / "outgoing.jsonl"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(outside, file, data_store):
    endpoint, pictures = outside
    args = AppArgs(
        engine=OpenAIEngine(base_url=endpoint.url, model="rollout"),
        verifier=VerifierConfig(kind="model", engine=OpenAIEngine(base_url=endpoint.url, model="verifier")),
        routing=RoutingConfig(method="fixed", stop="none"),
        gateway=GatewayConfig(port=free_port(), fetch_hosts=(pictures.host,)),
        tools=ToolsConfig(outgoing_log=str(file)),
        deployments=DeploymentsConfig(tools=DeploymentConfig(replicas=2)),
    )
    running = serve_configuration(args)
    service = await asyncio.to_thread(running.__enter__)
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as client:
        yield client
    await asyncio.to_thread(running.__exit__, None, None, None)


def lines_of_request(file, id_):
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip()] if file.exists() else []
    return [line for line in lines if line["request_id"] == id_]


async def test_requests_of_every_process_are_reported_written_and_erased(http, outside, file):
    endpoint, pictures = outside
    body = {"image": {"url": f"{pictures.url}/moved"}, "n_parallel": 3, "include": "full"}
    reply = await http.post("/locate", json=body)
    assert reply.status_code == 200, reply.text
    reply_body = reply.json()
    requests = reply_body["left_machine"]["sent"]
    posted = [one["bytes_sent"] for one in requests if one["method"] == "POST"]
    assert sorted(posted) == sorted(int(headers["content-length"]) for headers in endpoint.headers)
    assert {body["model"] for body in endpoint.bodies} == {"rollout", "verifier"}
    fetched = [one["url"] for one in requests if one["method"] == "GET"]
    assert [url.removeprefix(pictures.url) for url in fetched if url.startswith(pictures.url)] == ["/moved", "/photo"]
    identified = {url for url in fetched if not url.startswith(pictures.url)}  # each replica asks what the endpoint is
    assert identified <= {f"{endpoint.url}/models", endpoint.url.removesuffix("/v1") + "/api/version"}
    assert reply_body["left_machine"]["complete"]
    assert sorted(map(str, lines_of_request(file, reply_body["request_id"]))) == sorted(map(str, requests))
    assert (await http.delete(f"/locate/{reply_body['request_id']}?erase=true")).json()["erased"]
    assert lines_of_request(file, reply_body["request_id"]) == []


async def test_a_photo_that_could_not_be_fetched_is_written_under_the_id_of_the_refusal(http, outside, file):
    _, pictures = outside
    reply = await http.post("/locate", json={"image": {"url": f"{pictures.url}/absent"}})
    assert 400 <= reply.status_code < 500
    assert len(lines_of_request(file, reply.headers["x-request-id"])) == 1


async def test_calls_in_flight_when_a_request_is_cancelled_are_reported(http, outside):
    endpoint, _ = outside
    before = len(endpoint.headers)
    form = {"files": {"image": sign_bytes("Via Roma")}, "data": {"n_parallel": "3", "hint": SLOW}}
    reply = await http.post("/locate", **form, headers={"Prefer": "respond-async"})
    async with asyncio.timeout(20):
        while len(endpoint.headers) < before + 3:  # noqa: ASYNC110 — siblings wait 3 s for a first token that is slow
            await asyncio.sleep(0.01)
    path = reply.headers["location"]
    assert (await http.delete(path)).json()["was_running"]
    events = await http.get(path + "/events", headers={"Accept": "application/x-ndjson"})
    egress = json.loads(events.text.splitlines()[-2])
    assert egress["type"] == "left_machine"
    assert len([one for one in egress["sent"] if one["method"] == "POST"]) == 3
