"""`geotts eval report` states how dependent the rollouts of a run were."""

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.record import Record
from tts.eval.runs.report import markdown, report
from tts.eval.sample import Truth
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import policy_cases
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def recorded_run(world, rho, *, rollouts=4, photos=40):
    """A run of a scripted policy with this dependence; its rollouts rest on statements of tools."""
    atlas = Atlas(world.gazetteer, world.countries)
    return [
        Record(
            dataset="made",
            sample=str(i),
            truth=Truth(point=case.truth),
            options=LocateOptions(),
            elapsed_s=1.0,
            run=Run(rollouts=dict(enumerate(case.trajectories[:rollouts]))),
        )
        for i, case in enumerate(policy_cases(atlas, rho, photos, 4, seed=3))
    ]


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_the_report_of_a_run_has_the_dependence_of_its_rollouts(rho, world):
    found = report(recorded_run(world, rho), PlaceNames(world.countries, world.gazetteer), world=world)
    assert found.dependence.rho == pytest.approx(rho, abs=0.15)
    assert 0 < found.dependence.photos <= 40
    assert f"ρ = {found.dependence.rho:.2f}, from shared statements in {found.dependence.photos} photos" in markdown(
        found
    )


def test_a_mixture_has_a_dependence_within_a_model_and_one_between_models(world):
    """Two rollouts of model `a`, which are copies, and two of `b`, which are copies of other draws."""
    mixed = []
    for one in recorded_run(world, 0.0):
        a, _, b, _ = one.run.trajectories
        four = [(a, "a"), (a, "a"), (b, "b"), (b, "b")]
        rollouts = {i: t.model_copy(update={"rollout_id": i, "source": source}) for i, (t, source) in enumerate(four)}
        mixed.append(one.model_copy(update={"run": Run(rollouts=rollouts)}))
    found = report(mixed, PlaceNames(world.countries, world.gazetteer), world=world)
    assert found.dependence.rho == 1.0
    assert found.dependence_between_models.rho < 0.2
    text = markdown(found)
    assert "Dependence of rollouts of one model: ρ = 1.00, " in text
    assert f"Dependence of rollouts of different models: ρ = {found.dependence_between_models.rho:.2f}, " in text


def test_a_run_of_one_model_has_no_dependence_between_models(world):
    found = report(recorded_run(world, 0.0, photos=5), PlaceNames(world.countries, world.gazetteer), world=world)
    assert found.dependence_between_models is None
    assert "different models" not in markdown(found)


def test_a_run_of_single_rollouts_has_no_dependence(world):
    found = report(recorded_run(world, 0.9, rollouts=1), PlaceNames(world.countries, world.gazetteer), world=world)
    assert found.dependence is None
    assert "Dependence" not in markdown(found)


def test_geotts_eval_report_prints_the_dependence(world, tmp_path, data_store):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(one.json_line() for one in recorded_run(world, 0.9, photos=6)) + b"\n")
    done = CliRunner().invoke(cli, ["eval", "report", str(path)], catch_exceptions=False)
    assert "Dependence of rollouts of one model: ρ = " in done.stdout
