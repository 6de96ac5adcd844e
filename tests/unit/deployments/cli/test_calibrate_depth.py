"""`geotts calibrate-depth` fits which photos need depth, from any two runs."""

import pytest
from click.testing import CliRunner
from support.made_answers import an_answer

from deployments.cli import cli
from tts.domain.answer import Route
from tts.domain.geo import LatLon, destination
from tts.domain.plan import Depth, Limits, Locatability
from tts.domain.request import LocateOptions
from tts.errors import DataError
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.ports.locator import Routing
from tts.routing.depth_router import DepthRouter
from tts.routing.predictor import load_predictor

HERE = LatLon(lat=48.8566, lon=2.3522)


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


def test_runs_that_say_nothing_of_depth_are_refused_with_what_to_do(tmp_path):
    reason, rag = runs(tmp_path, rated_by="neither")
    other = tmp_path / "other.jsonl"
    other.write_bytes(rag.read_bytes().replace(b'"sample":"', b'"sample":"other'))
    for deep, message in ((rag, r"none of the 40 photos was rated: .*routing\.method"), (other, "share no photo")):
        typed = ["calibrate-depth", "--reason", str(reason), "--rag", str(deep), "--out", str(tmp_path / "depth.yaml")]
        with pytest.raises(DataError, match=message):
            CliRunner().invoke(cli, typed, standalone_mode=False, catch_exceptions=False)
