from typing import Any

import pytest
from ray.serve._private.api import call_user_app_builder_with_args_if_necessary as build_as_ray_does

from deployments.app import build
from deployments.wiring.parts import make_verifier
from tts.config import ScriptedEngine
from tts.inference.scripted.engine import ScriptedModel

VLLM = {"engine": {"name": "vllm", "model": "m"}}


@pytest.mark.parametrize(
    ("changes", "lent"),
    [
        ({**VLLM, "verifier": {"consistency": {}}}, True),
        ({**VLLM, "verifier": {"kind": "model"}}, True),
        ({**VLLM, "verifier": {}}, False),
        ({**VLLM, "verifier": {"consistency": {"engine": {"name": "scripted"}}}}, False),
        ({"engine": {"name": "clues"}, "verifier": {"consistency": {}}}, False),
    ],
)
def test_the_verifier_uses_the_engine_of_the_rollouts_instead_of_loading_it_again(data_store, changes, lent):
    application = build_as_ray_does(build, changes)
    init_args: tuple[Any, ...] = application._bound_deployment.init_args
    workers = init_args[3]
    args, _, rollout = workers["verifier"]._bound_deployment.init_args
    assert (rollout is workers["rollout"]) is lent
    assert make_verifier(args, ScriptedModel(ScriptedEngine()) if lent else None) is not None
