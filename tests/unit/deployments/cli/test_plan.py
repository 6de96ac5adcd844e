"""`geotts plan`: fits a table, draws the frontier, and plans a budget."""

import json

from click.testing import CliRunner
from support.budget_tables import MADE_IN_TWO_SESSIONS, TABLE, a_run

from deployments.cli import cli
from tts.domain.budget import Budget
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import BudgetTable


def plan(*arguments):
    done = CliRunner().invoke(cli, ["plan", *arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout


def test_geotts_plan_fits_a_table_draws_the_frontier_and_plans_a_budget(tmp_path):
    for n in (1, 4):
        lines = [record.json_line() for record in a_run([5] * n + [9000] * (8 - n), n=n, tokens=1000)]
        (tmp_path / f"{n}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    runs = ("--runs", str(tmp_path / "1.jsonl"), "--runs", str(tmp_path / "4.jsonl"))
    table, picture = tmp_path / "table.yaml", tmp_path / "frontier.svg"
    plan(*runs, "--out", str(table), "--plot", str(picture))
    assert [one.n for one in BudgetTable.read(table).rows] == [1, 4]
    assert picture.read_text().startswith("<svg")
    own = ("--set", f"routing.budget_table={table}")
    assert "4 rollouts of up to 8 turns" in plan("--budget", "20k-tokens", *own)
    assert json.loads(plan("--budget", "2000 tokens", "--json", *own))["row"]["n"] == 1
    assert plan(*own).count("tokens") == 3


def test_the_frontier_is_drawn_with_the_budget_and_the_plan(tmp_path):
    own = tmp_path / "table.yaml"
    BudgetTable.write(TABLE, own)
    picture = tmp_path / "frontier.svg"
    shown = plan("--budget", "250 tokens", "--set", f"routing.budget_table={own}", "--plot", str(picture))
    chart = [line for line in shown.splitlines() if "░" in line or "█" in line]
    assert len(chart) == len(TABLE.rows)
    (chosen,) = (line for line in chart if line.startswith("→"))
    assert f"n = {BudgetPlanner(TABLE).choose(Budget(tokens=250), 25.0).row.n}," in chosen
    assert any(line[2] == "●" for line in chart)
    assert picture.read_text().count("<title>the plan</title>") == 2  # tokens and seconds
    assert picture.read_text().count("<title>the budget</title>") == 1


def test_an_engine_without_recorded_runs_goes_by_made_up_ones():
    small, large = (json.loads(plan("--budget", text, "--set", "engine.name=openai", "--json"))
                    for text in ("4k-tokens", "500k-tokens"))  # fmt: skip
    assert (small["row"]["n"], large["row"]["n"]) == (1, 16)
    made_up = plan("--budget", "500k-tokens", "--set", "engine.name=openai")
    assert "in made-up runs" in made_up
    assert "within 25 km, in 400 answers of made-up runs" in made_up
    assert "recorded requests" not in made_up
    recorded = plan("--budget", "30s")
    assert "in recorded runs" in recorded
    assert " answers of recorded runs (kind of N: samples of one policy)\n" in recorded


def test_geotts_plan_makes_a_table_from_samples_of_a_scripted_policy(tmp_path):
    out = tmp_path / "policy.yaml"
    plan("--policy", "2", "--out", str(out))
    table = BudgetTable.read(out)
    assert {(one.photos, one.seconds) for one in table.rows} == {(8, None)}
    rows = {(one.n, one.answer_draws, one.questions, one.stop): one for one in table.rows}
    assert {n for n, draws, questions, stop in rows if (draws, questions, stop) == (1, 0, "none")} == {1, 2, 4, 8, 16}
    plain, drawing, asking, stopping = (
        rows[8, draws, questions, stop]
        for draws, questions, stop in ((1, 0, "none"), (4, 0, "none"), (1, 4, "none"), (1, 0, "loss:1.0"))
    )
    assert drawing.tokens.mean == plain.tokens.mean + 8 * 3 * 375  # a draw writes as much as a turn
    assert drawing.prompt_tokens.mean == plain.prompt_tokens.mean + 8 * 3 * 5500  # and reads the whole conversation
    assert (asking.tokens, asking.prompt_tokens) == (plain.tokens, plain.prompt_tokens)
    assert plain.tool_calls.mean <= asking.tool_calls.mean <= plain.tool_calls.mean + 4
    assert stopping.tokens.mean < plain.tokens.mean


def test_more_work_that_was_recorded_in_a_faster_session_is_not_printed_as_faster(tmp_path):
    own = tmp_path / "table.yaml"
    table = MADE_IN_TWO_SESSIONS
    table.model_copy(update={"rows": table.rows[:4]}).write(own)
    shown = plan("--budget", "60s", "--set", f"routing.budget_table={own}")
    assert "2 rollouts of up to 8 turns, samples of one policy; stop none" in shown
    (questions,) = (line for line in shown.splitlines() if "4 questions" in line)
    assert questions.endswith("4.0 s")
