"""`geotts plan` says of which kind of N its table and its plan are."""

import json

import yaml
from click.testing import CliRunner
from support.recorded_mixtures import recorded_request

from deployments.cli import cli
from tts.eval.budget_frontier import frontier_svg
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import BudgetTable, shipped_budget_table


def plan(*arguments):
    done = CliRunner().invoke(cli, ["plan", *arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done


def test_a_table_without_a_kind_of_n_is_printed_as_not_stating_it(tmp_path):
    path = tmp_path / "table.yaml"
    shipped_budget_table("clues").write(path)
    tree = yaml.safe_load(path.read_text())
    del tree["kind_of_n"]
    path.write_text(yaml.safe_dump(tree))
    shown = plan("--budget", "20k-tokens", "--set", f"routing.budget_table={path}").stdout
    assert shown.count("kind of N: not stated)") == 2
    assert "another kind of N" not in shown


def test_the_command_names_the_kind_of_the_plan_and_of_the_table(tmp_path):
    runs, table = tmp_path / "mixed.jsonl", tmp_path / "table.yaml"
    runs.write_bytes(recorded_request("west", "east").json_line() + b"\n")
    written = plan("--runs", str(runs), "--out", str(table), "--origin", "mine")
    assert "mine (kind of N: a mixture of models)" in written.stderr
    shown = plan("--budget", "20k-tokens", "--set", f"routing.budget_table={table}").stdout
    assert "2 rollouts of up to 8 turns, samples of one policy; stop none" in shown
    assert "in 1 answers of recorded runs (kind of N: a mixture of models)" in shown
    assert "mine (engine clues; kind of N: a mixture of models)" in shown
    other = "those answers are of another kind of N: a mixture of models, and this plan: samples of one policy"
    assert other in shown
    assert ">kind of N: a mixture of models</text>" in frontier_svg(BudgetPlanner(BudgetTable.read(table)))
    found = json.loads(plan("--budget", "20k-tokens", "--json", "--set", f"routing.budget_table={table}").stdout)
    assert (found["kind_of_n"], found["fitted_on"]) == ("samples of one policy", "a mixture of models")
