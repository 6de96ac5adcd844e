"""The stop rule that a service starts with: its default, and a table that the command line fitted."""

import json

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from deployments.config import AppArgs
from deployments.wiring.parts import make_watch
from tts.domain.stop_policy import StopPolicy
from tts.domain.stop_table import StopTable
from tts.errors import ConfigError


def test_the_default_stop_policy_allows_a_loss_of_one_point():
    assert AppArgs().routing.stop == "loss:1.0"
    assert StopPolicy.parse("loss").loss_points == 1.0
    assert StopPolicy.parse("loss:.5").loss_points == 0.5


def test_the_service_starts_from_a_table_fitted_by_the_command_line(tmp_path, data_store):
    logs = tmp_path / "logs"
    logs.mkdir()
    for system, lat in (("a", 45.76), ("b", 45.77), ("c", 34.7)):
        stated, truth = json.dumps({"lat": lat, "lon": 4.84}), {"lat": 45.76, "lon": 4.84}
        rows = [{"index": i, "ground_truth": truth, "solution_str": stated} for i in range(12)]
        (logs / f"{system}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out = tmp_path / "stop.yaml"
    done = CliRunner().invoke(cli, ["calibrate-stop", str(logs), "--out", str(out), "--origin", "mine"])
    assert done.exit_code == 0, done.output
    assert "logs: kind of N: a mixture of models, 3 a photo" in done.output
    args = AppArgs.model_validate({"routing": {"stop_calibration": str(out)}})
    assert make_watch(args).experience.table == StopTable.read(out)
    assert StopTable.read(out).origin == "mine"
    assert StopTable.read(out).kind_of_n == "a mixture of models"
    assert "mine (kind of N: a mixture of models)" in done.output
    with pytest.raises(ConfigError, match="stop_calibration"):
        make_watch(AppArgs.model_validate({"routing": {"stop_calibration": str(logs / "a.jsonl")}}))
