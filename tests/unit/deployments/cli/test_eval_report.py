"""`geotts eval report` states how dependent the rollouts of a run were."""

import pytest
from click.testing import CliRunner
from support.policy_runs import recorded_run

from deployments.cli import cli
from deployments.config import AppArgs
from tts.eval.acceptance.fitting import fit_and_install
from tts.verify.consensus.calibration import load
from tts.verify.consensus.installed_calibrations import installed_calibration
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def test_geotts_eval_report_prints_the_dependence(world, tmp_path, data_store):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(one.json_line() for one in recorded_run(world, 0.9, photos=6)) + b"\n")
    done = CliRunner().invoke(cli, ["eval", "report", str(path)], catch_exceptions=False)
    assert "Dependence of rollouts of one model: ρ = " in done.stdout


@pytest.fixture(scope="module")
def fitted_to_copies(world, tmp_path_factory):
    """A calibration of an engine whose rollouts are nearly copies, and what the command printed."""
    run_file = tmp_path_factory.mktemp("fitted") / "run.jsonl"
    run_file.write_bytes(b"\n".join(one.json_line() for one in recorded_run(world, 0.9, photos=60)) + b"\n")
    made = run_file.with_suffix(".yaml")
    done = CliRunner().invoke(cli, ["calibrate", str(run_file), "--out", str(made), "--splits", "0"])
    assert done.exit_code == 0, done.output
    return made, done.stderr


def test_a_calibration_states_the_dependence_of_the_runs_that_it_was_fitted_to(fitted_to_copies, data_store):
    made, printed = fitted_to_copies
    rho = load(made).dependence
    assert rho == pytest.approx(0.9, abs=0.1)
    assert f"dependence of rollouts of one model: ρ = {rho:.2f}" in printed


def test_an_installed_calibration_states_the_dependence_too(world, tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTTS_CALIBRATIONS", str(tmp_path))
    args = AppArgs()
    fit_and_install(recorded_run(world, 0.0, photos=60), args, world, origin="mine", keep=True)
    installed = installed_calibration(args)
    assert installed is not None
    assert installed.dependence == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(("rho", "is_noted"), [(0.0, True), (0.9, False)])
def test_geotts_eval_report_says_if_the_calibration_was_fitted_to_rollouts_of_another_dependence(
    rho, is_noted, world, fitted_to_copies, tmp_path, data_store
):
    made, _ = fitted_to_copies
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(one.json_line() for one in recorded_run(world, rho, photos=20)) + b"\n")
    typed = ["eval", "report", str(path), "--set", f"verifier.calibration={made}"]
    done = CliRunner().invoke(cli, typed, catch_exceptions=False)
    assert ("its radii may be too large for rollouts such as these" in done.stderr) == is_noted
    assert "The configured calibration" not in done.stdout
