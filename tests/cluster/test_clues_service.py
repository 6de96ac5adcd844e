"""The embedded engine over a real Ray Serve cluster, as a client sees it."""

import httpx
import pytest
import pytest_asyncio
from support.basics import a_request, sign_bytes
from support.event_stream import locate
from support.mcp_client import mcp_client, upload_photo
from support.replicas import Probe

from deployments.config import AppArgs
from deployments.launch.cluster import APP_NAME
from deployments.wiring.local import local_ports
from tts.domain.events import Routed, ToolResulted
from tts.domain.photo_cleaning import load_photo
from tts.domain.trajectory import fold
from tts.pipeline import solve
from tts.ports.toolbox import Attachment

ARGS = AppArgs()
PHOTO = sign_bytes("Wilhelmsburg", "Hamburg")
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        yield client


@pytest.fixture(scope="module")
def probe():
    return Probe(APP_NAME)


async def test_four_rollouts_use_real_tools_and_the_answer_cites_their_results(service, http):
    found = await locate(http, service.url, PHOTO, n_parallel=4, depth="deep", stop="none", seed=1)
    assert not found.failure
    run = fold(found.events)
    assert len(run.trajectories) == 4
    assert len({str(t.turns) for t in run.trajectories}) > 1
    assert [e for e in found.events if isinstance(e, ToolResulted) and e.result.ok and e.result.facts]
    assert run.answer.country_code == "DE"
    cited = [item for item in run.answer.evidence if item.call_id is not None]
    assert cited
    for evidence in cited:
        assert evidence.rollout_id is not None
        assert evidence.call_id is not None
        results = {r.call_id: r for r in run.rollouts[evidence.rollout_id].results}
        name = evidence.quote.split(",")[0]
        assert name in results[evidence.call_id].text


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_answer_of_a_seed_is_the_same_in_process_and_over_ray_serve(service, http, seed):
    here = []
    ports = local_ports(ARGS)
    async for item in solve(a_request(load_photo(PHOTO), depth="deep", stop="none", seed=seed), ports, deadline_s=60):
        if not isinstance(item, Attachment):
            here.append(item)
    there = (await locate(http, service.url, PHOTO, n_parallel=4, depth="deep", stop="none", seed=seed)).events

    def essence(events):
        run = fold(events)
        answer = run.answer.model_dump(exclude={"timing", "provenance", "evidence", "usage", "rollouts", "cost"})
        beliefs = [t.answer for t in run.trajectories]
        texts = [[turn.text for turn in t.turns] for t in run.trajectories]
        return answer, beliefs, texts

    assert essence(here) == essence(there)


async def test_the_verifier_asks_the_broker_from_its_own_deployment(service, http):
    photo = sign_bytes("Rue de Rivoli 12", "Paris", "Lyon")
    found = await locate(
        http, service.url, photo, n_parallel=4, depth="deep", stop="none", seed=3, verifier_questions=4
    )
    run = fold(found.events)
    calls = [call for turn in run.inquiry for call in turn.calls]
    assert 0 < len(calls) <= 4
    assert {call.id for call in calls} == {result.call_id for turn in run.inquiry for result in turn.results}
    assert len(run.trajectories) == 4
    assert run.answer.country_code == "FR"


async def test_routing_read_the_photo_once(service, http):
    found = await locate(http, service.url, PHOTO, n_parallel=2, depth="auto")
    (routed,) = [event for event in found.events if isinstance(event, Routed)]
    assert "readable line" in routed.locatability.why


async def test_clients_cannot_steer_ray_serve(service, http):
    headers = {"x-request-timeout-seconds": "0.001", "X-Request-Disconnect-Disabled": "?1"}
    reply = await http.post(f"{service.url}/locate", files={"image": PHOTO}, data={"n_parallel": "1"}, headers=headers)
    assert reply.status_code == 200


async def test_bad_input_is_a_problem_and_the_next_request_works(service, http, probe):
    for _ in range(3):
        reply = await http.post(f"{service.url}/locate", files={"image": b"nonsense"})
        assert (reply.status_code, reply.headers["content-type"]) == (415, "application/problem+json")
    assert not (await locate(http, service.url, PHOTO, n_parallel=1)).failure
    assert await probe.running() == 0


async def test_real_photographs_end_without_a_failure(service, http, eval_photos):
    for path in sorted(eval_photos.glob("*.jpg"))[:4]:
        found = await locate(http, service.url, path.read_bytes(), n_parallel=4, depth="deep")
        assert not found.failure


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_of_mcp_uses_map_tools_and_locates_a_photo(service, mode):
    messages = []

    async def progress(done, total, message):
        messages.append(message)

    async with mcp_client(service.url, mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"locate_photo", "continue_photo", "geocode", "country_at", "static_map", "satellite_map"} <= tools
        known = await client.call_tool("geocode", {"address": "Bellinzona"})
        assert known.structured_content["facts"][0]["country_code"] == "CH"
        drawn = await client.call_tool("static_map", {"latitude": 46.19, "longitude": 9.02})
        assert [one.type for one in drawn.content] == ["text", "image"]
        given = {"upload": await upload_photo(service.url, PHOTO), "n_parallel": 2, "seed": 1}
        found = await client.call_tool("locate_photo", given, progress_callback=progress)
        place = found.structured_content
        assert place["country"] == "Germany"
        assert messages[-1] == "the answer is there"
        assert (await client.read_resource(place["map"])).contents[0].mime_type == "image/jpeg"
        rejected = await client.call_tool("continue_photo", {"request_id": place["request_id"]})
        assert rejected.structured_content["changed"]["continues"] == place["request_id"]
