"""What rates photos, as it is made from the configuration: on the GPU it was given, with the engine that is loaded."""

from typing import Any

import pytest
from click.testing import CliRunner
from support.made_answers import an_answer

from deployments.cli import cli
from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.wiring import parts
from deployments.wiring.parts import asking_locator, make_locator
from tts.config import OpenAIEngine, RoutingConfig, ScriptedEngine, VllmEngine
from tts.domain.abilities import Abilities
from tts.domain.answer import Route
from tts.domain.geo import LatLon, destination
from tts.domain.plan import Depth, Limits, Locatability, PlanDepth
from tts.domain.request import LocateOptions
from tts.errors import GeoTTSError
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.inference.scripted.engine import ScriptedModel
from tts.ports.locator import Routing
from tts.routing.depth_router import DepthRouter
from tts.routing.predictor import load_predictor
from tts.routing.probe import ProbeLocator

SEES = Abilities(sees_pictures=True)
HERE = LatLon(lat=48.8566, lon=2.3522)


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


def run_file(path, errors_km, ratings):
    """One record a photo, off by so many km, with its rating where it has one."""
    lines = []
    for i, (error_km, rated) in enumerate(zip(errors_km, ratings, strict=True)):
        point = destination(HERE, bearing_deg=90, distance_km=error_km)
        answer = an_answer(lat=point.lat, lon=point.lon)
        if rated is not None:
            plan = DepthRouter(Limits()).plan(LocateOptions(depth=Depth.DEEP), Routing(rated))
            answer = answer.model_copy(update={"route": Route(locatability=rated, plan=plan)})
        truth = Truth(point=HERE, country="France", city="Paris")
        lines.append(
            Record(
                dataset="made", sample=str(i), truth=truth, options=LocateOptions(), elapsed_s=1.0, answer=answer
            ).json_line()
        )
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def runs(tmp_path, rated_by):
    """Two runs of 40 photos: those with a high `text` part are helped by looking things up."""
    deep = [i % 2 == 0 for i in range(40)]
    ratings = [Locatability(score=0.5, method="cues", parts={"text": float(d), "visual": 0.6}) for d in deep]
    none = [None] * 40
    reason = run_file(
        tmp_path / "reason.jsonl", [500.0 if d else 5.0 for d in deep], ratings if rated_by == "reason" else none
    )
    return reason, run_file(tmp_path / "rag.jsonl", [5.0] * 40, ratings if rated_by == "rag" else none)


@pytest.mark.parametrize(
    ("names", "rated_by"),
    [(("--reason", "--rag"), "rag"), (("--reason", "--rag"), "reason"), (("--direct", "--deep"), "reason")],
)
def test_any_two_runs_calibrate_depth(tmp_path, names, rated_by):
    reason, rag = runs(tmp_path, rated_by)
    typed = ["calibrate-depth", names[0], str(reason), names[1], str(rag), "--out", str(tmp_path / "depth.yaml")]
    done = CliRunner().invoke(cli, typed, standalone_mode=False)
    assert done.exception is None, done.exception
    assert "40 photos, 20 of which needed depth" in done.stderr
    predictor = load_predictor(tmp_path / "depth.yaml")
    easy, hard = (
        predictor.refine(Locatability(score=0.5, method="cues", parts={"text": t, "visual": 0.6})).parts["deep"]
        for t in (0.0, 1.0)
    )
    assert easy < 0.2
    assert hard > 0.8


def test_a_gpu_that_torch_does_not_see_is_an_error(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed here")
    pytest.importorskip("transformers")
    if torch.cuda.is_available():
        pytest.skip("torch sees a GPU here")
    from tts.routing.segmentation import Segmenter as Real

    with pytest.raises(GeoTTSError, match="num_gpus asks for a GPU"):
        Real("nowhere", "cuda")
