"""The whole service with vLLM behind it: four rollouts of three turns that zoom, over HTTP, with a verifier model."""

import asyncio
from contextlib import suppress

import httpx
import psutil
import pytest
import pytest_asyncio
from support import sign_bytes

from deployments.bench.harness import free_port, locate
from deployments.cluster import APP_NAME, served
from deployments.probe import Probe
from tts.config import (
    AppArgs,
    DeploymentConfig,
    DeploymentsConfig,
    GatewayConfig,
    RoutingConfig,
    VerifierConfig,
    VllmEngine,
)
from tts.domain.answer import StopReason
from tts.domain.events import ToolResulted, TurnFinished, VerifierText
from tts.domain.plan import Limits
from tts.domain.trajectory import fold

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(420)]
PHOTO = sign_bytes("Wilhelmsburg", "Inselpark")
ASKED = {"n_parallel": 4, "depth": "deep", "tools": "image_zoom", "deadline_s": 200}
ZOOM = {
    "type": "object",
    "properties": {
        "name": {"const": "image_zoom"},
        "arguments": {
            "type": "object",
            "properties": {"bbox": {"enum": [[0.1, 0.1, 0.6, 0.6], [0.4, 0.3, 0.9, 0.9]]}},
            "required": ["bbox"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def service(tiny_qwen3, tiny_args, data_store):
    args = AppArgs(
        engine=VllmEngine(model=str(tiny_qwen3), load_format="dummy", constrain="turns", turn_schema=ZOOM, **tiny_args),
        routing=RoutingConfig(method="fixed", fixed_score=0.9, stop="none", stragglers="wait"),
        limits=Limits(max_turns=3, max_tool_calls=8, max_tokens=2048),
        verifier=VerifierConfig(kind="model", mode="synthesise", max_tokens=900),
        gateway=GatewayConfig(port=free_port()),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=1)),
    )
    with served(args) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=240) as client:
        yield client


async def test_four_rollouts_zoom_twice_and_answer(service, http):
    found = await locate(http, service.url, PHOTO, seed=4, **ASKED)
    assert not found.failure
    run = fold(found.events)
    assert [t.stop_reason for t in run.trajectories] == [StopReason.ANSWERED] * 4
    assert all(len(t.turns) == 3 for t in run.trajectories)
    zoomed = [e.result for e in found.events if isinstance(e, ToolResulted)]
    assert len(zoomed) == 8
    assert all(result.ok and result.images for result in zoomed)
    assert len({t.text for t in run.trajectories}) > 1
    assert run.answer.usage.cached_tokens > 0.5 * run.answer.usage.prompt_tokens
    assert any(isinstance(event, VerifierText) for event in found.events)
    assert run.answer.provenance.verifier == "synthesise by vllm"


async def test_the_same_seed_gives_the_same_trajectories(service, http):
    runs = [fold((await locate(http, service.url, PHOTO, seed=3, **ASKED)).events) for _ in range(2)]
    first, again = ([t.turns[0].text for t in run.trajectories] for run in runs)
    assert first == again


async def test_a_client_that_leaves_stops_the_engine(service, http):
    probe = Probe(APP_NAME)
    data = {name: str(value) for name, value in ASKED.items()}
    headers = {"Accept": "text/event-stream"}
    async with http.stream(
        "POST", f"{service.url}/locate", files={"image": PHOTO}, data=data, headers=headers
    ) as response:
        lines = response.aiter_lines()
        while "rollout_started" not in await anext(lines):
            pass
        await asyncio.sleep(0.2)
    assert await probe.idle_within(3.0)
    assert not (await locate(http, service.url, PHOTO, n_parallel=2, depth="direct")).failure


def kill_engine_core():
    """SIGKILL what the Rollout replica has started: the engine core and its worker."""
    killed = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it ended, or its parent has just been killed here
            if any("Rollout" in part for part in process.cmdline()):
                for engine in process.children(recursive=True):
                    engine.kill()
                    killed += 1
    assert killed


async def test_a_dead_engine_core_costs_a_turn_not_the_request(service, http):
    """Last: the replica is replaced, and its rollouts go on in the new one from their last finished turn."""
    turn_finished = asyncio.Event()

    def watch(event):
        if isinstance(event, TurnFinished):
            turn_finished.set()

    asked = ASKED | {"deadline_s": 300}
    async with asyncio.TaskGroup() as group:
        running = group.create_task(locate(http, service.url, PHOTO, seed=5, on_event=watch, **asked))
        await turn_finished.wait()
        kill_engine_core()
    found = running.result()
    assert not found.failure
    run = fold(found.events)
    assert any(trajectory.resumed for trajectory in run.trajectories)
    assert all(len(trajectory.turns) == 3 for trajectory in run.trajectories)
