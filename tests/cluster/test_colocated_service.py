"""Rollouts and verifier in the gateway's process, on a real Ray Serve: three deployments, the same promises."""

import asyncio

import httpx
import pytest
import pytest_asyncio
from ray import serve
from support.plain_photo import plain_photo
from support.replicas import Probe

from deployments.config import AppArgs
from deployments.launch.cluster import APP_NAME
from tts.api.client import Client
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.request import LocateOptions

ARGS = AppArgs(
    engine=ScriptedEngine(turns=4, tokens_per_turn=32, turn_s=0.5), routing=RoutingConfig(method="fixed"), colocate=True
)
PHOTO = plain_photo(320, 240)
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=60) as client:
        yield client


async def test_a_colocated_service_has_three_deployments_and_readiness_checks_them_all(service, http):
    assert set(serve.status().applications[APP_NAME].deployments) == {"Gateway", "Locatability", "Tools"}
    ready = (await http.get(f"{service.url}/readyz")).json()
    assert ready == {"status": "ready", "checks": {"store": "ok", "locatability": "ok", "tools": "ok"}}


async def test_rollouts_call_the_tools_of_the_broker_and_are_judged(service):
    options = LocateOptions(n_parallel=4, depth="standard", seed=1)
    async with Client(service.url) as client:
        events = [event async for event in client.stream(PHOTO, options)]
    results = [event.result for event in events if event.type == "tool_result"]
    assert len(results) >= 4
    assert all(result.ok for result in results)
    (answer,) = [event.answer for event in events if event.type == "answer"]
    assert answer.country_code == "FR"
    assert answer.candidates


async def test_a_disconnected_stream_leaves_nothing_running_in_a_colocated_service(service, http):
    request = http.stream(
        "POST", f"{service.url}/locate", files={"image": PHOTO}, data={"n_parallel": "8", "depth": "deep"},
        headers={"Accept": "text/event-stream"},
    )  # fmt: skip
    async with request as response:
        await anext(response.aiter_lines())
        await asyncio.sleep(0.25)
    assert await Probe(APP_NAME).idle_within(3.0)
