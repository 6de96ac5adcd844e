"""A budget decides what a request does: by recorded runs, never above what it allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.budget_tables import MADE_IN_TWO_SESSIONS, PRICE, SOMETHING, TABLE, a_run, row

from tts.domain.abilities import Abilities
from tts.domain.budget import Budget, budget_of
from tts.domain.plan import Depth, Limits, Locatability, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.stop_table import Band, band_of
from tts.errors import DataError
from tts.eval.budget_fitting import fit_budget
from tts.eval.budget_frontier import best_rows, frontier_svg
from tts.ports.locator import Routing
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import POLICY, BudgetTable, PossibleWays, shipped_budget_table
from tts.routing.depth_router import DepthRouter, DialectBudget
from tts.routing.usual_cost import predicted_cost

NOTHING = Routing(Locatability(score=0.0, method="cues", parts={"text": 0.0, "content": 0.1}))
PLANNER = BudgetPlanner(TABLE, "clues", PRICE)


def choose_row(planner=PLANNER, *, keeps_turns=False, **budget):
    return planner.choose(Budget(**budget), 25.0, keeps_turns=keeps_turns)


def test_the_row_most_often_right_is_chosen_among_the_rows_that_fit():
    assert [choose_row(tokens=tokens).row.n for tokens in (600, 2000, 4000, 10**6)] == [1, 4, 8, 8]
    assert choose_row(seconds=3.5).row == TABLE.rows[1]
    assert choose_row(money_usd=0.03).row.n == 4
    assert choose_row(seconds=100, tokens=550).row == TABLE.rows[1]


def test_the_cheapest_of_equally_good_rows_is_chosen():
    assert choose_row(tokens=3000).row == TABLE.rows[2]


def test_a_budget_below_every_row_gets_the_smallest_one_and_says_so():
    choice = choose_row(tokens=20)
    assert (choice.row, choice.fits) == (TABLE.rows[0], False)
    assert "may be cut short" in choice.sentence
    assert "cut short" not in choose_row(tokens=600).sentence


@given(tokens=st.integers(16, 10**5), seconds=st.floats(0.1, 100), money_usd=st.floats(0.0001, 1))
def test_a_choice_that_fits_stays_below_each_part_of_the_budget(tokens, seconds, money_usd):
    choice = choose_row(tokens=tokens, seconds=seconds, money_usd=money_usd)
    if choice.fits:
        assert choice.cost.tokens.p90 <= tokens
        assert choice.cost.seconds.p90 <= seconds
        assert choice.cost.money_usd.p90 <= money_usd


@given(small=st.integers(16, 5000), more=st.integers(0, 5000))
def test_a_larger_budget_is_never_expected_to_be_less_right(small, more):
    assert choose_row(tokens=small + more).right.value >= choose_row(tokens=small).right.value - 0.5


def test_more_work_that_was_recorded_in_a_faster_session_is_not_faster():
    table = MADE_IN_TWO_SESSIONS
    planner = BudgetPlanner(table, "clues", PRICE)
    assert [planner.cost(one).seconds.p90 for one in table.rows] == [3, 4, 4, 4, 1]
    assert [planner.cost(one).seconds.mean for one in table.rows] == pytest.approx([2.4, 3.2, 3.2, 3.2, 0.8])


def test_the_shipped_table_never_counts_more_work_as_faster():
    table = shipped_budget_table("clues")
    planner = BudgetPlanner(table, "clues")
    for large in table.rows:
        for small in table.rows:
            if large.includes(small):
                times = [planner.cost(one).seconds for one in (large, small)]
                assert (times[0].mean, times[0].p90) >= (times[1].mean, times[1].p90)


@given(seconds=st.floats(0.1, 1000), tokens=st.integers(16, 10**6), radius_km=st.sampled_from([25.0, 200.0, 750.0]))
def test_the_shipped_table_plans_draws_questions_or_a_stop_only_where_no_plain_row_is_as_good(
    seconds, tokens, radius_km
):
    """docs/routing.md says so: such rows are not more often right there than four plain rollouts."""
    planner = BudgetPlanner(shipped_budget_table("clues"), "clues")
    band = band_of(radius_km)
    for budget in (Budget(seconds=seconds), Budget(tokens=tokens), Budget(seconds=seconds, tokens=tokens)):
        choice = planner.choose(budget, radius_km)
        if choice.fits and choice.row.additions:
            plain = [row for row in planner.table.rows if not row.additions and fits_in(planner.cost(row), budget)]
            assert max(row.right[band].value for row in plain) < choice.right.value - 0.5


def fits_in(cost, budget):
    return all(amount.p90 <= most for amount, most in cost.limited(budget))


def test_of_rows_that_cost_about_the_same_the_one_with_the_fewest_tokens_is_chosen():
    plain = row(2, 50, 1000, 2.0)
    stopped = row(8, 50, 4000, 1.9, stop="loss:1.0")
    much_faster = row(8, 50, 4000, 1.7, stop="loss:1.0")
    for other, chosen in ((stopped, plain), (much_faster, much_faster)):
        planner = BudgetPlanner(TABLE.model_copy(update={"rows": (plain, other)}), "clues", PRICE)
        assert choose_row(planner, seconds=10).row == chosen


def test_a_table_of_another_engine_gives_costs_but_no_time():
    other = BudgetPlanner(TABLE, "openai", PRICE)
    choice = choose_row(other, seconds=2.0)
    assert (choice.row.n, choice.cost.seconds, choice.transferred) == (4, None, True)
    assert "of another engine" in choice.sentence
    assert choose_row(other, tokens=5000).cost.tokens.p90 <= 5000
    assert choose_row(other, tokens=5000).row.n == 1


def test_the_turns_of_a_published_dialect_stay():
    assert choose_row(tokens=150).row.turns == 1
    assert choose_row(tokens=150, keeps_turns=True).row.turns == 8


def test_costs_of_another_engine_include_the_answer_draws():
    drawing = row(4, 60, 2000, 4, answer_draws=4)
    planner = BudgetPlanner(TABLE.model_copy(update={"rows": (row(4, 60, 2000, 4), drawing)}), "openai", PRICE)
    plain, drawn = (planner.cost(one) for one in planner.table.rows)
    assert drawn.tokens.mean == 1.75 * plain.tokens.mean  # a draw writes as much as one of four turns
    assert drawn.money_usd.mean > 1.75 * plain.money_usd.mean  # and reads the whole conversation
    predicted = predicted_cost(PlanDepth.DEEP, 4, Limits(answer_draws=4), PRICE)
    assert predicted["completion_tokens"] == drawn.tokens.mean
    assert predicted["cost_usd"] == pytest.approx(drawn.money_usd.mean, abs=1e-3)


def chosen_with(*, draws_answers=True, tools=None, possible=None):
    rows = (row(2, 40, 1000, 2), row(2, 50, 1200, 2, answer_draws=3), row(2, 60, 1000, 2, questions=4),
            row(2, 70, 1000, 2, stop="loss:1.0"))  # fmt: skip
    dialect = DialectBudget(limits=Limits(max_turns=8), draws_answers=draws_answers)
    planner = BudgetPlanner(
        TABLE.model_copy(update={"rows": rows}), "clues", PRICE, possible=possible or PossibleWays()
    )
    router = DepthRouter(Limits(), Abilities(sees_pictures=True), lambda _: dialect, PRICE, planner)
    options = router.within_budget(LocateOptions(budget=Budget(tokens=5000), tools=tools))
    plan = router.plan(options, SOMETHING)
    return options.stop, options.verifier_questions, plan.limits.answer_draws


def test_a_plan_has_only_what_the_verifier_and_the_dialect_can_do():
    assert chosen_with() == ("loss:1.0", 0, 1)
    assert chosen_with(possible=PossibleWays(may_stop=False)) == ("none", 4, 1)
    assert chosen_with(possible=PossibleWays(may_stop=False, most_questions=3)) == ("none", 0, 3)
    assert chosen_with(possible=PossibleWays(may_stop=False), tools=()) == ("none", 0, 3)
    cannot_ask = PossibleWays(may_stop=False, most_questions=0)
    assert chosen_with(possible=cannot_ask, draws_answers=False) == ("none", 0, 1)
    assert chosen_with(possible=cannot_ask.both(PossibleWays(most_draws=2))) == ("none", 0, 1)


def test_the_cost_of_a_plan_leaves_out_draws_that_its_dialect_cannot_make():
    _, can_draw = plan_for(LocateOptions(depth=Depth.DEEP), limits=Limits(answer_draws=4))
    _, cannot = plan_for(LocateOptions(depth=Depth.DEEP), limits=Limits(answer_draws=4), draws_answers=False)
    assert can_draw.predicted_cost["completion_tokens"] == 1.75 * cannot.predicted_cost["completion_tokens"]


def plan_for(options, routing=SOMETHING, limits=None, *, draws_answers=True):
    dialect = DialectBudget(limits=Limits(max_turns=8), draws_answers=draws_answers)
    router = DepthRouter(limits or Limits(), Abilities(sees_pictures=True), lambda _: dialect, PRICE, PLANNER)
    return router, router.plan(router.within_budget(options), routing)


def test_a_budget_becomes_rollouts_turns_draws_questions_and_a_stop_policy():
    options = LocateOptions(budget=Budget(tokens=4000, money_usd=0.5), max_cost_usd=0.3)
    router, plan = plan_for(options)
    resolved = router.within_budget(options)
    assert (resolved.n_parallel, resolved.verifier_questions, resolved.stop) == (8, 4, "loss:1.0")
    assert (resolved.max_tokens_total, resolved.max_cost_usd) == (4000, 0.3)
    assert router.within_budget(resolved) == resolved
    assert (plan.n_planned, plan.depth, plan.limits.max_tokens) == (8, PlanDepth.DEEP, 500)
    assert "the budget is 4,000 tokens and 0.5 USD" in plan.summary
    assert "70 % [65, 75]" in plan.summary
    assert "(4 questions of the verifier, stop loss:1.0)" in plan.summary


def test_other_options_of_the_caller_hold_beside_a_budget():
    options = LocateOptions(budget=Budget(tokens=4000), stop="none", verifier_questions=0)
    router, plan = plan_for(options)
    resolved = router.within_budget(options)
    assert (resolved.stop, resolved.verifier_questions) == ("none", 0)
    assert "questions of the verifier" not in plan.summary
    assert "stop" not in plan.summary


@given(
    tokens=st.integers(100, 100_000),
    questions=st.sampled_from([None, 0, 4]),
    stop=st.sampled_from([None, "none", "loss:1.0"]),
    tools=st.sampled_from([None, ()]),
)
def test_a_budget_that_was_resolved_is_resolved_the_same_way_again(tokens, questions, stop, tools):
    shipped = BudgetPlanner(shipped_budget_table(POLICY), "openai", PRICE)
    router = DepthRouter(Limits(), Abilities(sees_pictures=True), None, PRICE, shipped)
    options = LocateOptions(budget=Budget(tokens=tokens), verifier_questions=questions, stop=stop, tools=tools)
    resolved = router.within_budget(options)
    assert router.within_budget(resolved) == resolved
    assert router.plan(resolved, SOMETHING).n_planned == resolved.n_parallel
    assert questions is None or resolved.verifier_questions == questions


@pytest.mark.parametrize("budget", [Budget(seconds=1), Budget(money_usd=0.01)])
def test_a_budget_whose_cost_is_not_known_gets_a_small_plan_and_says_why(budget):
    planner = BudgetPlanner(shipped_budget_table(POLICY), "openai")
    choice = planner.choose(budget, 25.0)
    assert (choice.fits, choice.cost_is_known) == (True, False)
    assert choice.row.n <= 4
    assert "not known what such a plan costs" in choice.sentence
    assert planner.choose(Budget(seconds=60, tokens=500_000), 25.0).row.n > 4


@pytest.mark.parametrize(
    ("asked", "limits", "note"),
    [
        ({"tools": ()}, Limits(), "those rollouts had tools, and these have none"),
        ({"max_tool_calls": 0}, Limits(), "those rollouts had tools, and these have none"),
        ({}, Limits(max_turns=2), "those rollouts had up to 8 turns, and these have up to 2"),
    ],
)
def test_a_plan_says_what_its_rollouts_lack(asked, limits, note):
    _, plan = plan_for(LocateOptions(budget=Budget(tokens=4000), **asked), limits=limits)
    assert note in plan.summary
    assert "those rollouts" not in plan_for(LocateOptions(budget=Budget(tokens=4000)))[1].summary
    assert plan.predicted_cost["tool_calls"] == 0 or limits.max_turns == 2


def test_a_budget_for_one_turn_gives_an_answer_without_tools():
    _, plan = plan_for(LocateOptions(budget=Budget(tokens=150)))
    assert (plan.depth, plan.use_tools, plan.limits.max_turns) == (PlanDepth.DIRECT, False, 1)


def test_a_photo_that_shows_nothing_gets_one_rollout_whatever_the_budget_allows():
    _, plan = plan_for(LocateOptions(budget=Budget(tokens=10**6)), NOTHING)
    assert (plan.depth, plan.n_planned) == (PlanDepth.HOPELESS, 1)


def test_answers_are_drawn_again_as_the_operator_or_the_budget_says():
    table = BudgetTable(origin="made up", engine="clues", rows=(TABLE.rows[3],))
    router = DepthRouter(Limits(), planner=BudgetPlanner(table))
    options = router.within_budget(LocateOptions(budget=Budget(tokens=5000)))
    assert router.plan(options, SOMETHING).limits.answer_draws == 3
    configured = DepthRouter(Limits(answer_draws=2))
    assert configured.plan(LocateOptions(depth=Depth.DEEP), SOMETHING).limits.answer_draws == 2


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("30s", Budget(seconds=30)),
        ("2 min", Budget(seconds=120)),
        ("200k-tokens", Budget(tokens=200_000)),
        ("1500 tokens", Budget(tokens=1500)),
        ("0.05usd", Budget(money_usd=0.05)),
        ("30s, 0.05usd,20k-tokens", Budget(seconds=30, money_usd=0.05, tokens=20_000)),
        ('{"seconds": 3}', Budget(seconds=3)),
    ],
)
def test_a_budget_is_read_in_the_words_that_people_use(text, budget):
    assert budget_of(text) == LocateOptions(budget=text).budget == budget


NO_BUDGETS = ("", "30", "fast", "30s,40s", "5usd,", "{", '{"hours": 1}', "{}", "4 tokens", "0s", "9" * 400 + " tokens")


@pytest.mark.parametrize("text", NO_BUDGETS, ids=lambda text: text[:20])
def test_an_invalid_budget_is_refused_with_the_reason(text):
    with pytest.raises(ValueError, match=r"[bB]udget|given twice"):
        budget_of(text)
    with pytest.raises(ValidationError):
        LocateOptions(budget=text)


def test_a_table_says_of_each_run_what_was_recorded():
    runs = {"one": a_run([5, 50, 500, 5000], n=1, tokens=100), "four": a_run([5, 5, 5, 5000], n=4, tokens=100)}
    table = fit_budget(runs, command="geotts plan")
    one, four = table.rows
    assert (one.n, one.turns, one.photos, table.engine) == (1, 8, 4, "clues")
    assert [one.right[band].value for band in Band] == [25.0, 50.0, 75.0]
    assert (four.tokens.mean, four.tokens.p90, four.prompt_tokens.p90, four.seconds.p90) == (400.0, 533.33, 1000.0, 4.0)
    assert four.right[Band.TOWN].low < 75.0 < four.right[Band.TOWN].high


@pytest.mark.parametrize(("options", "why"), [({"depth": Depth.AUTO}, "--depth deep"), ({"stop": None}, "--stop")])
def test_runs_that_do_not_say_what_was_spent_are_refused(options, why):
    with pytest.raises(DataError, match=why):
        fit_budget({"run": a_run([5], n=1, tokens=10, **options)})


def test_the_frontier_joins_what_nothing_else_beats():
    rows = [(row(1, 50, 100, 1), 1.0), (row(2, 40, 200, 2), 2.0), (row(4, 60, 400, 3), 3.0)]
    assert [one.n for one, _ in best_rows(rows, Band.TOWN)] == [1, 4]
    picture = frontier_svg(PLANNER)
    assert picture.count("<circle") == 3 * len(TABLE.rows)
    assert frontier_svg(BudgetPlanner(TABLE, "clues")).count("<circle") == 2 * len(TABLE.rows)


def test_runs_are_compared_on_the_photos_that_all_of_them_have():
    runs = {"one": a_run([5, 5000, 5], n=1, tokens=100), "four": a_run([5, 5000], n=4, tokens=100)}
    assert [one.photos for one in fit_budget(runs).rows] == [2, 2]
    one, _ = fit_budget(runs).rows
    assert one.right[Band.TOWN].value == 50.0


@pytest.mark.parametrize("engine", ["clues", POLICY])
def test_a_shipped_table_says_where_it_is_from(engine):
    table = shipped_budget_table(engine)
    assert table.engine == engine
    assert table.command.startswith("geotts plan")
    assert len({one.n for one in table.rows}) >= 4
