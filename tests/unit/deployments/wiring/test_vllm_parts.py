"""vLLM engines as they are made from the configuration: the GPUs that their deployment claims, and their names."""

import pytest
from support.basics import a_context
from support.vllm_seam import SEARCH, Clock, Seam, deltas_of

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.wiring.parts import make_agent_model, make_model, make_verifier
from tts.aio import closing
from tts.config import VerifierConfig, VllmEngine
from tts.config.setting_names import OF_CONSISTENCY, OF_VERIFIER
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.shared_time import GPU_TIME
from tts.inference.with_observer import ModelWithObserver
from tts.ports.model_client import ModelRequest, Sampling


@pytest.fixture
def request_for(sign_photo):
    def make(*more, **fields):
        fields = {"tools": (SEARCH,), "photos": (sign_photo,)} | fields
        messages = (*GenericDialect().opening(Task(photos=(sign_photo,))), *more)
        return ModelRequest(a_context(), "loc_test/0", messages, Sampling(seed=1), **fields)

    return make


@pytest.mark.parametrize(
    ("deployment", "gpus"),
    [
        ({}, 0.0),
        ({"num_gpus": 0.5}, 0.5),
        ({"num_gpus": 2}, 2.0),
        ({"bundles": ({"GPU": 1.0, "CPU": 1.0}, {"GPU": 1.0})}, 2.0),
    ],
)
async def test_gpu_seconds_are_counted_with_the_gpus_that_the_deployment_claims(
    monkeypatch, request_for, deployment, gpus
):
    """Two engines that share a GPU cost one GPU together."""
    monkeypatch.setattr("tts.inference.vllm.engine.VllmSeam", lambda config, names: Seam())
    rollout = DeploymentConfig(**deployment)
    engine = VllmEngine(model="m", gpu_memory=0.45)
    args = AppArgs(engine=engine, deployments=DeploymentsConfig(rollout=rollout))
    model = make_model(args)
    assert isinstance(model, VllmModel)
    monkeypatch.setattr(model._gpu_time, "charged_s", lambda mark: 3.0)
    assert (await deltas_of(model, request_for()))[-1].usage.gpu_s == 3.0 * gpus


async def test_a_planner_and_its_observer_share_the_time_and_the_gpus_of_their_replica(monkeypatch, request_for):
    """Both generate for 4 s: together they cost the 4 s of the half GPU that their deployment claims, not 8 s of it."""
    monkeypatch.setattr("tts.inference.vllm.engine.VllmSeam", lambda config, names: Seam())
    engine = VllmEngine(model="m", gpu_memory=0.2)
    rollout = DeploymentConfig(num_gpus=0.5)
    args = AppArgs(engine=engine, observer=engine, deployments=DeploymentsConfig(rollout=rollout))
    both = make_agent_model(args)
    assert isinstance(both, ModelWithObserver)
    clock = Clock()
    monkeypatch.setattr(GPU_TIME, "_clock", clock)
    monkeypatch.setattr(GPU_TIME, "_advanced_at", 0.0)
    spent = 0.0
    async with (
        closing(both._planner.generate(request_for())) as planning,
        closing(both._observer.generate(request_for())) as observing,
    ):
        await anext(planning)
        await anext(observing)
        clock.now = 4.0
        for deltas in (planning, observing):
            spent += (await anext(deltas)).usage.gpu_s
    assert spent == pytest.approx(4.0 * 0.5)


@pytest.mark.parametrize(("place", "names"), [("engine", OF_VERIFIER), ("consistency", OF_CONSISTENCY)])
async def test_engines_of_the_verifier_have_the_gpus_and_names_of_its_deployment(monkeypatch, data_store, place, names):
    claimed = []

    def load(config, claimed_gpus, names):
        claimed.append((claimed_gpus, names))
        return object()

    monkeypatch.setattr("deployments.wiring.parts.VllmModel", load)
    engine = VllmEngine(model="m", gpu_memory=0.2)
    chosen = {"engine": {"kind": "model", "engine": engine}, "consistency": {"consistency": {"engine": engine}}}[place]
    deployments = DeploymentsConfig(rollout=DeploymentConfig(num_gpus=2), verifier=DeploymentConfig(num_gpus=0.5))
    make_verifier(AppArgs(verifier=VerifierConfig(**chosen), deployments=deployments), None, None)
    assert claimed == [(0.5, names)]
