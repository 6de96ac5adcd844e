"""A request whose rollouts are shared by a vLLM in the process and a script, as a service deploys them."""

import json
from collections import Counter

import httpx
import pytest
from support.basics import sign_bytes
from support.event_stream import locate
from support.ports import free_port

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import serve_configuration
from tts.config import EngineShare, RoutingConfig, ScriptedEngine, VllmEngine
from tts.domain.geo import LatLon, distance_km
from tts.domain.plan import Limits
from tts.domain.trajectory import fold

pytestmark = pytest.mark.timeout(420)
OSAKA = LatLon(lat=34.69, lon=135.5)
ASKED = {"n_parallel": 4, "depth": "deep", "stop": "none", "seed": 3, "deadline_s": 200}


@pytest.fixture
def mixture(tiny_qwen3, tiny_args, tmp_path):
    """Three of four rollouts are for vLLM, one is for a script that answers Osaka."""
    tape = tmp_path / "osaka.jsonl"
    tape.write_text(json.dumps({"turn": 0, "text": json.dumps({"lat": OSAKA.lat, "lon": OSAKA.lon, "city": "Osaka"})}))
    local = VllmEngine(model=str(tiny_qwen3), load_format="dummy", constrain="turns", gpu_memory=0.5, **tiny_args)
    return AppArgs(
        engines=(
            EngineShare(name="local", share=3, engine=local, limits=Limits(max_turns=2, max_tokens=2048)),
            EngineShare(name="script", engine=ScriptedEngine(tape=str(tape))),
        ),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=1, num_gpus=0.5)),
    )


async def test_vllm_and_a_script_share_the_rollouts_of_a_request(mixture, data_store, monkeypatch):
    monkeypatch.setenv("RAY_OVERRIDE_RESOURCES", '{"GPU": 1}')
    with serve_configuration(mixture) as service:
        async with httpx.AsyncClient(timeout=240) as http:
            found = await locate(http, service.url, sign_bytes("Osaka"), **ASKED)
    assert not found.failure, found.failure
    run = fold(found.events)
    assert Counter(one.source for one in run.trajectories) == {"local": 3, "script": 1}
    assert not [one.error for one in run.trajectories if one.error]
    of_vllm = [one for one in run.trajectories if one.source == "local"]
    assert all(len(one.turns) == 2 for one in of_vllm), "the limits of its own"
    assert all(one.usage.prompt_tokens > 0 and one.usage.completion_tokens > 0 for one in of_vllm)
    assert sum(one.usage.cached_tokens for one in of_vllm) > 0, "they share the prompt"
    (scripted,) = (one for one in run.trajectories if one.source == "script")
    assert distance_km(scripted.answer.point, OSAKA) < 1
    assert run.answer.provenance.model.count("+") == 1
