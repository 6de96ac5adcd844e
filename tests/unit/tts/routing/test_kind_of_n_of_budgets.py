"""A budget table says which kind of N its runs were of. A plan for the other kind says that they were."""

import json

import pytest
import yaml
from click.testing import CliRunner
from support.made_answers import an_answer

from deployments.cli import cli
from deployments.config import AppArgs
from deployments.wiring.parts import make_router
from tts.domain.answer import RolloutStatus, StopReason
from tts.domain.budget import Budget
from tts.domain.geo import LatLon
from tts.domain.kind_of_n import FittedKind
from tts.domain.plan import Depth, Limits, Locatability
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import Usage
from tts.eval.budget_fitting import fit_budget
from tts.eval.budget_frontier import frontier_svg
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.ports.locator import Routing
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import POLICY, BudgetTable, shipped_budget_table
from tts.routing.depth_router import DepthRouter

HERE = LatLon(lat=48.8566, lon=2.3522)
ROUTING = Routing(Locatability(score=0.5, method="cues", parts={"text": 0.3, "content": 0.9}))
ASKED = LocateOptions(n_parallel=2, depth=Depth.DEEP, stop="none")
MIXTURE = {"engines": [{"name": name, "engine": {"name": "scripted"}} for name in ("west", "east")]}


def recorded_request(*sources):
    """A request whose rollouts are from these sources."""
    rollouts = {i: Trajectory(rollout_id=i, source=source, usage=Usage(completion_tokens=50))
                for i, source in enumerate(sources)}  # fmt: skip
    statuses = [RolloutStatus(rollout_id=i, stop_reason=StopReason.ANSWERED, answered=True, source=source)
                for i, source in enumerate(sources)]  # fmt: skip
    routed = {"locatability": ROUTING.locatability, "plan": DepthRouter(Limits()).plan(ASKED, ROUTING)}
    run = Run.model_validate({"routed": {"type": "routed", **routed}, "rollouts": rollouts})
    answer = an_answer(lat=HERE.lat, lon=HERE.lon, usage=Usage(prompt_tokens=10), rollouts=tuple(statuses))
    truth = Truth(point=HERE, country="France", city="Paris")
    return Record(dataset="made", sample="a", truth=truth, options=ASKED, elapsed_s=1.0, answer=answer, run=run)


@pytest.mark.parametrize(("sources", "kind"), [
    ([("", "")], FittedKind.ONE_POLICY), ([("west", "east")], FittedKind.MIXTURE),
    ([("", ""), ("west", "east")], FittedKind.BOTH), ([()], FittedKind.NOT_STATED),
])  # fmt: skip
def test_a_table_has_the_kind_of_n_of_its_runs(sources, kind, tmp_path):
    table = fit_budget({str(i): [recorded_request(*each)] for i, each in enumerate(sources)}, origin="mine")
    table.write(tmp_path / "table.yaml")
    assert BudgetTable.read(tmp_path / "table.yaml").kind_of_n is table.kind_of_n is kind


def test_photos_that_are_left_out_of_a_table_do_not_count_for_its_kind():
    alone = recorded_request("west", "east").model_copy(update={"sample": "b"})
    single = recorded_request("").model_copy(update={"options": ASKED.model_copy(update={"n_parallel": 1})})
    table = fit_budget({"two": [recorded_request("", ""), alone], "one": [single]})
    assert table.kind_of_n is FittedKind.ONE_POLICY
    assert "2 runs, 2 requests; N: " in table.origin


@pytest.mark.parametrize("engine", ["clues", POLICY])
def test_a_shipped_table_is_of_samples_of_one_policy(engine):
    assert shipped_budget_table(engine).kind_of_n is FittedKind.ONE_POLICY


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


def test_a_table_with_a_kind_that_does_not_exist_is_refused(tmp_path):
    path = tmp_path / "table.yaml"
    shipped_budget_table("clues").write(path)
    path.write_text(path.read_text().replace("kind_of_n: samples of one policy", "kind_of_n: several"))
    with pytest.raises(ValueError, match="kind_of_n"):
        BudgetTable.read(path)


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


def test_a_mixture_that_goes_by_the_table_of_one_policy_says_so_in_its_plan():
    router = make_router(AppArgs.model_validate(MIXTURE))
    options = router.within_budget(LocateOptions(budget=Budget(tokens=10**6)))
    summary = router.plan(options, ROUTING).summary
    assert summary.startswith(f"{options.n_parallel} attempts of a mixture of 2 models with tools: the budget is ")
    assert "another kind of N: samples of one policy, and this plan: a mixture of models" in summary
    one = make_router(AppArgs.model_validate({"engine": {"name": "scripted"}}))
    summary = one.plan(one.within_budget(options), ROUTING).summary
    assert summary.startswith(f"{options.n_parallel} attempts of one model with tools: ")
    assert "another kind" not in summary


def test_a_single_rollout_of_a_mixture_is_one_sample_of_one_policy():
    table = shipped_budget_table(POLICY)
    choice = BudgetPlanner(table, models=2).choose(Budget(tokens=16), 25.0)
    assert (choice.row.n, choice.kind_of_n) == (1, "one sample of one policy")
    assert "another kind" not in choice.sentence
