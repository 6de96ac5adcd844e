"""`geotts calibrate` fits the reliability of the models of a mixture, and radii to the answers that use it."""

import json

import pytest
from click.testing import CliRunner
from support.basics import a_context

from deployments.cli import calibrate
from deployments.cli.calibrate import command
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from tts.domain.geo import LatLon, destination, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, Trajectory
from tts.eval.acceptance import fitting
from tts.eval.acceptance.fitting import fit_and_install
from tts.eval.labelled_cases import cases_of, thin_out_cases
from tts.eval.runs.record import Record, read_records
from tts.eval.sample import Truth
from tts.ports.verification import VerifyRequest
from tts.verify.consensus.calibration import load, shipped_calibration
from tts.verify.consensus.calibration_in_use import reliability_in_use
from tts.verify.consensus.radius_fitting import fit
from tts.verify.consensus.reliability import load_reliability
from tts.verify.verifiers.consensus import ConsensusVerifier


def test_the_command_writes_a_file_that_the_verifier_reads(tmp_path, data_store):
    for name, km in (("near", 0.2), ("far", 900.0)):
        rows = []
        for i in range(60):
            truth = LatLon(lat=10.0 + i / 3, lon=20.0)
            point = destination(truth, bearing_deg=90, distance_km=km)
            answer = json.dumps({"lat": point.lat, "lon": point.lon, "city": "", "country": ""})
            rows.append({"index": i, "ground_truth": {"lat": truth.lat, "lon": truth.lon}, "solution_str": answer})
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    out = tmp_path / "sources.json"
    result = CliRunner().invoke(
        command, [str(tmp_path), "--sources", str(out), "--out", str(tmp_path / "c.yaml"), "--splits", "0"]
    )
    assert result.exit_code == 0, result.output
    found = load_reliability(out).factors
    assert found["near"][1] > found["far"][1]


def record_of(number, truth, points):
    """A recorded request to which the rollouts of `points`, by the name of their model, gave one point each."""
    rollouts = {
        i: Trajectory(rollout_id=i, source=source, answer=Hypothesis(point=point))
        for i, (source, point) in enumerate(points)
    }
    return Record(
        dataset="made", sample=f"s{number}", truth=Truth(point=truth), options=LocateOptions(), elapsed_s=1.0,
        run=Run(rollouts=rollouts),
    )  # fmt: skip


def mixed_runs(path, count=80):
    """`good` is right. The two rollouts of `poor` agree on a place 3000 km away, so that equal weights answer that."""
    records = []
    for number in range(count):
        truth = LatLon(lat=20.0 + number / 4, lon=20.0)
        wrong = destination(truth, bearing_deg=90, distance_km=3000.0)
        near = destination(wrong, bearing_deg=0, distance_km=0.3)
        good = destination(truth, bearing_deg=0, distance_km=0.2 + number % 4)
        records.append(record_of(number, truth, (("poor", wrong), ("good", good), ("poor", near))))
    path.write_bytes(b"\n".join(record.json_line() for record in records) + b"\n")
    return path


def run_calibration(tmp_path, *options):
    done = CliRunner().invoke(
        command, [str(mixed_runs(tmp_path / "mixed.jsonl")), "--out", str(tmp_path / "c.yaml"), *options],
        catch_exceptions=False,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def fitted(monkeypatch):
    """The spreads and errors in km of every fit of a calibration."""
    rows = []

    def noted(spreads, errors_km, **more):
        rows.append((list(spreads), list(errors_km)))
        return fit(spreads, errors_km, **more)

    for module in (calibrate, fitting):
        monkeypatch.setattr(module, "fit", noted)
    return rows


def served_errors(tmp_path, verifier):
    """The spread and the error in km of what the service answers to the thinned cases."""
    args = AppArgs.model_validate({"verifier": verifier})
    answering = ConsensusVerifier(make_world(None), shipped_calibration("default"), reliability_in_use(args))
    spreads, errors = [], []
    for case in thin_out_cases(cases_of(tmp_path / "mixed.jsonl")):
        request = VerifyRequest(a_context(), (), LocateOptions(), case.trajectories)
        spreads.append(answering.judge(request).spread)
        errors.append(distance_km(answering.judge(request).clusters[0].centre, case.truth))
    return spreads, errors


def test_radii_are_fitted_to_the_answers_that_the_service_gives_with_the_reliability(tmp_path, data_store, fitted):
    sources = tmp_path / "sources.json"
    found = run_calibration(tmp_path, "--sources", str(sources), "--splits", "2").stdout
    plain = run_calibration(tmp_path, "--splits", "2").stdout
    assert fitted == [served_errors(tmp_path, {"sources": sources}), served_errors(tmp_path, {})]
    assert fitted[0] != fitted[1]
    assert json.loads(found)["radius90_mean_km"] < json.loads(plain)["radius90_mean_km"]


def test_named_anonymous_and_equal_sources_are_compared_on_held_out_photos(tmp_path, data_store):
    done = run_calibration(tmp_path, "--sources", str(tmp_path / "sources.json"), "--splits", "0")
    found = json.loads(done.stdout)["by_sources"]
    assert found["photos"] == 80
    at_25 = found["thresholds_km"].index(25.0)
    assert found["named"][at_25] == 100.0
    assert found["equal"][at_25] < 50.0
    assert found["agreement"][at_25] < 50.0, "two sources that never agree tell nothing about each other"
    text = " ".join(done.stderr.split())
    assert "named sources, reliability from the true places of the other half: " in text
    assert "named sources, reliability from agreement: " in text
    equal = ", ".join(f"{share:.1f}" for share in found["equal"])
    assert f"the same weight for each source: {equal}" in text
    assert "--sources sources.json" in (tmp_path / "c.yaml").read_text()
    run_calibration(tmp_path, "--sources", str(tmp_path / "sources.json"), "--agreement", "--splits", "0")
    assert "--sources sources.json --agreement" in (tmp_path / "c.yaml").read_text()
    assert load(tmp_path / "c.yaml").kind_of_n == "a mixture of models"


def test_an_acceptance_fits_radii_to_the_answers_with_the_reliability_in_use(tmp_path, data_store, monkeypatch, fitted):
    monkeypatch.setenv("GEOTTS_CALIBRATIONS", str(tmp_path / "calibrations"))
    sources = tmp_path / "sources.json"
    run_calibration(tmp_path, "--sources", str(sources), "--splits", "0")
    records, world = read_records(tmp_path / "mixed.jsonl"), make_world(None)
    fitted.clear()
    for verifier in ({"sources": sources}, {}):
        fit_and_install(records, AppArgs.model_validate({"verifier": verifier}), world, origin="made", keep=False)
    assert fitted == [served_errors(tmp_path, {"sources": sources}), served_errors(tmp_path, {})]
    assert fitted[0] != fitted[1]
