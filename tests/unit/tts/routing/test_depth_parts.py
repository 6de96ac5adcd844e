"""What a rating does to a plan: the visual rating raises it, and a probe or a fitted rating may lower it."""

from typing import Any

import pytest

from tts.domain.abilities import Abilities
from tts.domain.plan import Limits, Locatability, PlanDepth
from tts.domain.request import LocateOptions
from tts.errors import GeoTTSError
from tts.ports.locator import Routing
from tts.routing.depth_router import DepthRouter

SEES = Abilities(sees_pictures=True)


def plan_for_rating(n=4, **rating):
    rating = {"score": 0.1, "method": "visual", **rating}
    return DepthRouter(Limits(), SEES).plan(LocateOptions(n_parallel=n), Routing(Locatability(**rating)))


def test_the_visual_rating_may_raise_a_plan_and_never_lowers_it():
    nothing = {"text": 0.0, "content": 0.1}
    assert plan_for_rating(parts=nothing).depth is PlanDepth.HOPELESS
    assert plan_for_rating(parts={**nothing, "visual": 0.4}).n_planned == 4
    for visual in (0.0, 0.2, 1.0):
        assert plan_for_rating(parts={"text": 0.0, "content": 0.9, "visual": visual}).n_planned == 4


def test_a_plan_spends_less_only_after_a_probe_or_a_fitted_rating():
    clear: dict[str, Any] = {"score": 0.9, "parts": {"content": 0.9, "deep": 0.1}}
    assert plan_for_rating(**clear).n_planned == 4
    probed = {**clear["parts"], "probe": 0.9}
    fitted = {**clear["parts"], "l_opt": 0.9}
    for known in (probed, fitted):
        plan = plan_for_rating(score=0.9, parts=known)
        assert (plan.depth, plan.n_planned, plan.use_tools) == (PlanDepth.STANDARD, 2, True)
    assert plan_for_rating(score=0.9, parts={**fitted, "deep": 0.6}).n_planned == 4
    assert plan_for_rating(score=0.3, parts=fitted).n_planned == 4


def test_a_gpu_that_torch_does_not_see_is_an_error(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed here")
    pytest.importorskip("transformers")
    if torch.cuda.is_available():
        pytest.skip("torch sees a GPU here")
    from tts.routing.segmentation import Segmenter as Real

    with pytest.raises(GeoTTSError, match="num_gpus asks for a GPU"):
        Real("nowhere", "cuda")
