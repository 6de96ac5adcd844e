"""How dependent the rollouts of a recorded run were."""

import pytest
from support.policy_runs import recorded_run

from tts.domain.trajectory import Run
from tts.eval.calibration_fitting import verdict_columns
from tts.eval.labelled_cases import LabelledCase
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.dependence import RunDependence, note_on_calibration
from tts.eval.runs.report import markdown, report
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


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


def test_verdicts_of_single_rollouts_have_no_dependence(world):
    alone = [
        LabelledCase(case.sample, case.truth.point, case.run.trajectories[:1])
        for case in recorded_run(world, 0.9, photos=5)
    ]
    assert verdict_columns(alone, world).dependence is None


@pytest.mark.parametrize(("run", "fitted", "text"), [
    (0.9, 0.0, "too small"),
    (0.0, 0.9, "too large"),
    (0.6, 0.3, None),
    (0.9, None, None),
    (None, 0.9, None),
])  # fmt: skip
def test_a_calibration_is_noted_only_if_both_dependences_are_known_and_far_apart(run, fitted, text):
    note = note_on_calibration(None if run is None else RunDependence(rho=run, photos=10), fitted)
    if text is None:
        assert note is None
    else:
        assert note is not None
        assert text in note
        assert note_on_calibration(RunDependence(rho=run, photos=9), fitted) is None
