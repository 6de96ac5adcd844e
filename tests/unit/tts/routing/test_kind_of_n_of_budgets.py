"""A budget table says which kind of N its runs were of. A plan for the other kind says that they were."""

import pytest
from support.recorded_mixtures import ASKED, recorded_request

from tts.domain.budget import Budget
from tts.domain.kind_of_n import FittedKind
from tts.eval.budget_fitting import fit_budget
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import POLICY, BudgetTable, shipped_budget_table


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


def test_a_table_with_a_kind_that_does_not_exist_is_refused(tmp_path):
    path = tmp_path / "table.yaml"
    shipped_budget_table("clues").write(path)
    path.write_text(path.read_text().replace("kind_of_n: samples of one policy", "kind_of_n: several"))
    with pytest.raises(ValueError, match="kind_of_n"):
        BudgetTable.read(path)


def test_a_single_rollout_of_a_mixture_is_one_sample_of_one_policy():
    table = shipped_budget_table(POLICY)
    choice = BudgetPlanner(table, models=2).choose(Budget(tokens=16), 25.0)
    assert (choice.row.n, choice.kind_of_n) == (1, "one sample of one policy")
    assert "another kind" not in choice.sentence
