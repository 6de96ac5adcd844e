"""`geotts eval report` states how dependent the rollouts of a run were."""

import pytest
from click.testing import CliRunner
from support.policy_runs import recorded_run

from deployments.cli import cli
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def test_geotts_eval_report_prints_the_dependence(world, tmp_path, data_store):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(one.json_line() for one in recorded_run(world, 0.9, photos=6)) + b"\n")
    done = CliRunner().invoke(cli, ["eval", "report", str(path)], catch_exceptions=False)
    assert "Dependence of rollouts of one model: ρ = " in done.stdout
