"""Parts as they are made from the configuration: models, dialects, locators, routers, verifiers."""

import pytest

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, load_config
from deployments.wiring import parts
from deployments.wiring.parts import asking_locator, make_dialect, make_locator, make_router, make_verifier, make_watch
from tts.config import OpenAIEngine, RoutingConfig, ScriptedEngine, VllmEngine
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.domain.budget import Budget
from tts.domain.plan import Locatability
from tts.domain.request import LocateOptions
from tts.ensemble.leader import decide_first_calls
from tts.inference.scripted.engine import ScriptedModel
from tts.ports.locator import Routing
from tts.routing.probe import ProbeLocator
from tts.verify.verifiers.calibration_state import CalibrationStateVerifier
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.model import ModelVerifier
from tts.verify.verifiers.question_limit import QuestionLimitVerifier
from tts.verify.verifiers.walk import WalkVerifier

ROUTING = Routing(Locatability(score=0.5, method="cues", parts={"text": 0.3, "content": 0.9}))
MIXTURE = {"engines": [{"name": name, "engine": {"name": "scripted"}} for name in ("west", "east")]}


def test_a_lone_rollout_of_the_embedded_engine_is_a_sample_unless_settings_differ():
    def temperature(args):
        drawn = make_dialect("generic", args).sampling(rollout_id=0, n=1, seed=1, turn=0, max_tokens=100)
        return drawn.temperature

    assert temperature(AppArgs()) == 0.7
    greedy = DialectSettings(alone=SamplingSettings(temperature=0.0))
    assert temperature(AppArgs(dialect_settings=greedy)) == 0.0
    assert temperature(AppArgs(engine={"name": "scripted"})) == 0.0


def test_first_calls_differ_if_rollouts_divide_them_or_if_that_is_asked_for():
    assert not make_watch(AppArgs(engine=OpenAIEngine())).diverse_first_calls
    assert make_watch(AppArgs(engine=OpenAIEngine(), routing={"diverse_first_calls": True})).asks_leader
    watch = make_watch(AppArgs())
    assert (watch.diverse_first_calls, watch.asks_leader) == (True, False)
    decided = decide_first_calls(LocateOptions(), watch)
    assert decided.diverse_first_calls
    assert not decide_first_calls(LocateOptions(diverse_first_calls=False), watch).diverse_first_calls
    alike = make_watch(AppArgs(routing={"diverse_first_calls": False}))
    assert decide_first_calls(LocateOptions(), alike).diverse_first_calls is False
    assert decide_first_calls(decided, alike) is decided
    assert decide_first_calls(LocateOptions(diverse_first_calls=True), alike).diverse_first_calls


def test_a_mixture_that_goes_by_the_table_of_one_policy_says_so_in_its_plan():
    router = make_router(AppArgs.model_validate(MIXTURE))
    options = router.within_budget(LocateOptions(budget=Budget(tokens=10**6)))
    summary = router.plan(options, ROUTING).summary
    assert summary.startswith(f"{options.n_parallel} attempts of a mixture of 2 models with tools: the budget is ")
    assert "another kind of N: samples of one policy, and this plan: a mixture of models" in summary
    one = make_router(AppArgs.model_validate({"engine": {"name": "scripted"}}))
    summary = one.plan(one.within_budget(options), ROUTING).summary
    assert summary.startswith(f"{options.n_parallel} attempts of one model with tools: ")
    assert "another kind" not in summary


class Segmenter:
    made: tuple[str, str] | None = None

    def __init__(self, model, device="cpu"):
        Segmenter.made = (model, device)


@pytest.mark.parametrize(("gpus", "device"), [(0, "cpu"), (0.25, "cuda"), (1, "cuda")])
@pytest.mark.parametrize("method", ["visual", "leader"])
def test_the_segmentation_runs_on_the_gpu_of_its_deployment(monkeypatch, gpus, device, method):
    monkeypatch.setattr(parts, "Segmenter", Segmenter)
    args = AppArgs(
        engine=OpenAIEngine(),
        routing=RoutingConfig(method=method, segmentation_model="folder"),
        deployments=DeploymentsConfig(locatability=DeploymentConfig(num_gpus=gpus)),
    )
    make_locator(args, perception=None)
    assert Segmenter.made == ("folder", device)


def test_a_probe_asks_the_engine_of_the_rollouts_vllm_included(monkeypatch):
    monkeypatch.setattr(parts, "make_model", lambda *args: pytest.fail("a second engine was made"))
    args = AppArgs(engine=VllmEngine(model="tiny"), routing=RoutingConfig(method="probe"))
    looking, model = make_locator(args, perception=None), ScriptedModel(ScriptedEngine(), ())
    assert isinstance(asking_locator(args, looking, model), ProbeLocator)
    assert asking_locator(AppArgs(), looking, model) is looking


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ({"model": "Qwen/Qwen3-VL-8B-Thinking"}, True),
        ({"model": "Qwen/Qwen3-VL-8B-Instruct"}, False),
        ({"model": "house-model", "thinks": True}, True),
        ({"model": "Qwen/Qwen3-VL-8B-Thinking", "thinks": False}, False),
    ],
)
def test_a_thinking_verifier_is_not_bound_by_a_grammar_and_nothing_is_stopped_early(model, thinks, data_store):
    engine = {"name": "openai", "base_url": "http://127.0.0.1:9/v1", **model}
    args = load_config(
        None, {"verifier": {"kind": "model", "mode": "trajectories", "engine": engine}, "routing": {"stop": "quorum:2"}}
    )
    assert make_watch(args).stop == "none"
    checking = make_verifier(args)
    assert isinstance(checking, ClaimVerifier)
    verifier = checking.verifier
    assert isinstance(verifier, CalibrationStateVerifier)
    limited = verifier.verifier
    assert isinstance(limited, QuestionLimitVerifier)
    walking = limited.verifier
    assert isinstance(walking, WalkVerifier)
    assert isinstance(walking.verifier, ModelVerifier)
    assert walking.verifier.config.thinks is thinks
