"""The rows of a budget table as lines of text: what a way to spend takes, how often it was right, and what is best."""

from __future__ import annotations

from tts.domain.stop_table import Band
from tts.eval.budget_frontier import best_rows
from tts.routing.budget_planner import BudgetChoice, BudgetPlanner
from tts.routing.budget_table import BudgetRow

_BAR_CHARS = 20  # characters for 100 %
_ON_FRONTIER = "●"
_DOMINATED = "·"
_ON_PLAN = "→"


def frontier_lines(planner: BudgetPlanner, band: Band, choice: BudgetChoice | None = None) -> list[str]:
    """One line for each row of the table, from the cheapest in tokens on.

    ● is a row than which no other takes fewer tokens and is right more often; → is the row of `choice`. Costs are the
    90th percentiles of recorded requests.
    """
    rows = sorted(planner.table.rows, key=lambda row: planner.cost(row).tokens.p90)
    best = [row for row, _ in best_rows([(row, planner.cost(row).tokens.p90) for row in rows], band)]
    return [
        f"{_ON_PLAN if choice is not None and row == choice.row else ' '} "
        f"{_ON_FRONTIER if row in best else _DOMINATED} "
        f"{row.label:36} {_bar(row, band)} {row.right[band]!s:15}  {_cost_text(planner, row)}"
        for row in rows
    ]


def _bar(row: BudgetRow, band: Band) -> str:
    return ("█" * round(_BAR_CHARS * row.right[band].value / 100.0)).ljust(_BAR_CHARS, "░")


def _cost_text(planner: BudgetPlanner, row: BudgetRow) -> str:
    cost = planner.cost(row)
    parts = [f"{cost.tokens.p90:,.0f} tokens"]
    parts += [] if cost.seconds is None else [f"{cost.seconds.p90:.1f} s"]
    parts += [] if cost.money_usd is None else [f"{cost.money_usd.p90:.4f} USD"]
    return ", ".join(parts)
