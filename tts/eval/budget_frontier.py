"""The rows of a budget table as SVG: what a way to spend takes, and how often it was right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tts.domain.stop_table import Band
from tts.routing.budget_planner import BudgetChoice, BudgetCost, BudgetPlanner
from tts.routing.budget_table import RADIUS_KM, Amount, BudgetRow

_PANEL_WIDTH = 330
_LEFT = 46
_TOP = 34
_WIDTH = 260
_HEIGHT = 200
_TICKS = (0, 20, 40, 60, 80, 100)

_RowWithP90 = tuple[BudgetRow, float]
"""A row and the 90th percentile of what it takes."""


def frontier_svg(planner: BudgetPlanner, band: Band = Band.TOWN, choice: BudgetChoice | None = None) -> str:
    """A panel for tokens, for seconds and for US dollars, as far as they are known.

    Rows upwards by their share of right answers with its 95 % interval, to the right by the 90th percentile of the
    cost; the line joins the best ones, which have their names. The kind of N of the table stands above. A ring marks
    the row of `choice`, and a dashed line each limit of its budget.
    """
    limits, chosen = (choice.budget, choice.row) if choice is not None else (None, None)
    costs: list[tuple[str, Callable[[BudgetCost], Amount | None], float | None]] = [
        ("tokens", lambda cost: cost.tokens, limits.tokens if limits else None),
        ("seconds", lambda cost: cost.seconds, limits.seconds if limits else None),
        ("US dollars", lambda cost: cost.money_usd, limits.money_usd if limits else None),
    ]
    panels: list[str] = []
    for name, amount_of, limit in costs:
        known = [(row, amount.p90) for row in planner.table.rows if (amount := amount_of(planner.cost(row)))]
        if known:
            panels.append(_panel(name, known, band, _LEFT + _PANEL_WIDTH * len(panels), chosen, limit))
    width, height = _LEFT + _PANEL_WIDTH * len(panels), _TOP + _HEIGHT + 46
    kind = f'<text x="{_LEFT + 4}" y="30">kind of N: {planner.table.kind_of_n}</text>'
    title = f"Right within {RADIUS_KM[band]:g} km, and what nine of ten requests stay below"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="10" role="img"><title>{title}</title><rect width="{width}" height="{height}" fill="white"/>'
        f"{kind}{''.join(panels)}</svg>\n"
    )


def best_rows(rows: Sequence[_RowWithP90], band: Band) -> list[_RowWithP90]:
    """Those than which no other is both cheaper and more often right, from the cheapest on."""
    best: list[_RowWithP90] = []
    for row, cost in sorted(rows, key=lambda one: (one[1], -one[0].right[band].value)):
        if not best or row.right[band].value > best[-1][0].right[band].value:
            best.append((row, cost))
    return best


def _panel(
    name: str, rows: Sequence[_RowWithP90], band: Band, left: float, chosen: BudgetRow | None, limit: float | None
) -> str:
    most = _round_up(max(cost for _, cost in rows))

    def x(cost: float) -> float:
        return left + _WIDTH * cost / most

    best = best_rows(rows, band)
    line = " ".join(f"{x(cost):.1f},{_to_y(row.right[band].value):.1f}" for row, cost in best)
    parts = [
        f'<text x="{left}" y="18" font-size="13">right within {RADIUS_KM[band]:g} km, %</text>',
        f'<path d="M{left} {_TOP}V{_TOP + _HEIGHT}H{left + _WIDTH}" fill="none" stroke="#999"/>',
        *(f'<text x="{left - 22}" y="{_to_y(tick) + 3:.0f}">{tick}</text>' for tick in _TICKS),
        *(f'<text x="{x(part * most):.0f}" y="{_TOP + _HEIGHT + 14}">{part * most:g}</text>' for part in (0, 0.5, 1)),
        f'<text x="{left + 40}" y="{_TOP + _HEIGHT + 32}">{name} (nine of ten requests take no more)</text>',
        f'<polyline points="{line}" fill="none" stroke="#28c"/>',
        *(_dot(row, x(cost), band) for row, cost in rows),
        *(_name(row, x(cost), band) for row, cost in best),
        *(_ring(x(cost), _to_y(row.right[band].value)) for row, cost in rows if row == chosen),
        *([_limit_line(x(limit))] if limit is not None and limit <= most else []),
    ]
    return "".join(parts)


def _dot(row: BudgetRow, x: float, band: Band) -> str:
    right = row.right[band]
    colour = "#28c" if row == _plain_row(row) else "#e80"
    return (
        f"<g><title>{row.label}: {right}</title>"
        f'<path d="M{x:.1f} {_to_y(right.low):.1f}V{_to_y(right.high):.1f}" stroke="{colour}" opacity="0.4"/>'
        f'<circle cx="{x:.1f}" cy="{_to_y(right.value):.1f}" r="3" fill="{colour}"/></g>'
    )


def _name(row: BudgetRow, x: float, band: Band) -> str:
    """Rising to the right, so that the names of neighbours do not cover each other."""
    y = _to_y(row.right[band].high) - 4
    return f'<text font-size="8" transform="translate({x:.1f} {y:.1f}) rotate(-42)">{row.label}</text>'


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="#c22"><title>the plan</title></circle>'


def _limit_line(x: float) -> str:
    return f'<path d="M{x:.1f} {_TOP}v{_HEIGHT}" stroke="#c22" stroke-dasharray="4 3"><title>the budget</title></path>'


def _plain_row(row: BudgetRow) -> BudgetRow:
    return row.model_copy(update={"answer_draws": 1, "questions": 0, "stop": "none"})


def _to_y(percent: float) -> float:
    return _TOP + _HEIGHT * (1.0 - percent / 100.0)


def _round_up(number: float) -> float:
    """The next of 1, 2, 5, 10, 20 … of any size."""
    size = 10.0 ** math.floor(math.log10(number))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= number)
