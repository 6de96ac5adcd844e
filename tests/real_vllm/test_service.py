"""The service with vLLM behind it: four rollouts of three turns that zoom, over HTTP, with the consistency agent."""

import asyncio
import time
from contextlib import suppress

import httpx
import psutil
import pytest
import pytest_asyncio
from support.basics import sign_bytes
from support.event_stream import locate
from support.ports import free_port
from support.replicas import Probe
from support.service import samples

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import APP_NAME, serve_configuration
from tts.config import ConsistencyConfig, RoutingConfig, VerifierConfig, VllmEngine
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, ToolResulted, TurnFinished
from tts.domain.plan import Limits
from tts.domain.trajectory import fold
from tts.domain.usage import Usage

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
    """Ray is configured with a GPU that is not there: the engine claims half of it, and runs on the processor."""
    args = AppArgs(
        engine=VllmEngine(
            model=str(tiny_qwen3), load_format="dummy", constrain="turns", turn_schema=ZOOM, gpu_memory=0.5, **tiny_args
        ),
        routing=RoutingConfig(method="fixed", fixed_score=0.9, stop="none", stragglers="wait"),
        limits=Limits(max_turns=3, max_tool_calls=8, max_tokens=2048),
        verifier=VerifierConfig(consistency=ConsistencyConfig(timeout_s=60)),
        gateway=GatewayConfig(port=free_port()),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=1, num_gpus=0.5)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_OVERRIDE_RESOURCES", '{"GPU": 1}')
        with serve_configuration(args) as running:
            yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=240) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def first(service, http):
    """The first request: what came, the seconds it took, and what it cost of the GPUs by the metrics."""
    before, started = await gpu_seconds(http, service), time.monotonic()
    found = await locate(http, service.url, PHOTO, seed=4, **ASKED)
    return found, time.monotonic() - started, await gpu_seconds(http, service) - before


async def gpu_seconds(http, service):
    return samples((await http.get(f"{service.url}/metrics")).text)["geotts_gpu_seconds_total"]


async def test_four_rollouts_zoom_twice_and_answer(first):
    found, _, _ = first
    assert not found.failure
    run = fold(found.events)
    assert [t.stop_reason for t in run.trajectories] == [StopReason.ANSWERED] * 4
    assert all(len(t.turns) == 3 for t in run.trajectories)
    zoomed = [e.result for e in found.events if isinstance(e, ToolResulted)]
    assert len(zoomed) == 8
    assert all(result.ok and result.images for result in zoomed)
    assert len({t.text for t in run.trajectories}) > 1
    assert run.answer.usage.cached_tokens > 0.5 * run.answer.usage.prompt_tokens
    assert not run.answer.abstained
    assert run.answer.provenance.verifier == "consensus"


async def test_the_consistency_agent_reads_with_the_engine_of_the_rollouts(first):
    """Beside the verifier as it comes: this was refused, as if a second engine had to be loaded."""
    found, _, _ = first
    answer = fold(found.events).answer
    rollouts = sum((event.usage for event in found.events if isinstance(event, RolloutFinished)), Usage())
    assert answer.usage.prompt_tokens > rollouts.prompt_tokens > 0
    assert answer.usage.completion_tokens > rollouts.completion_tokens > 0
    assert "the consistency check did not finish" not in answer.warnings


async def test_the_gpu_seconds_of_a_request_are_in_the_metrics(first):
    """Half a GPU for at most the time that the request took, and more than none."""
    _, took_s, gpu_s = first
    assert 0 < gpu_s < 0.5 * took_s


async def test_the_same_seed_gives_the_same_trajectories(service, http):
    runs = [fold((await locate(http, service.url, PHOTO, seed=3, **ASKED)).events) for _ in range(2)]
    first, again = ([t.turns[0].text for t in run.trajectories] for run in runs)
    assert first == again


async def test_a_client_that_disconnects_stops_the_engine(service, http):
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
