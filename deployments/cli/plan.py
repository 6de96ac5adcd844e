"""`geotts plan`: what a budget allows, by recorded runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from deployments.cli.console import STDERR, config_option, profile_options
from deployments.cli.inputs import BudgetType
from deployments.cli.text_console import TextConsole
from deployments.config import AppArgs
from deployments.wiring.parts import make_dialect, make_planner, make_world
from tts.domain.budget import Budget
from tts.domain.kind_of_n import KindOfN
from tts.domain.request import LocateOptions
from tts.domain.stop_table import band_of
from tts.eval.budget_fitting import fit_budget
from tts.eval.budget_frontier import frontier_svg
from tts.eval.budget_frontier_text import frontier_lines
from tts.eval.budget_policies import policy_table
from tts.eval.runs.record import Record, read_records
from tts.routing.budget_planner import BudgetChoice, BudgetPlanner
from tts.routing.budget_table import RADIUS_KM, Amount, ways_of_request

_STDOUT = TextConsole()


@click.command()
@click.option(
    "--budget",
    type=BudgetType(),
    help="Budget of a request: 30s, 2min, 20k-tokens, 0.05usd, or several with commas.",
)
@click.option(
    "--runs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Run file to fit the table to, in place of the configured table. Repeatable.",
)
@click.option(
    "--policy",
    type=click.IntRange(min=1),
    help="Fit the table to synthetic answers instead of runs: this many photos for each dependence of the rollouts.",
)
@click.option("--radius", "target_radius_km", type=click.FloatRange(0.001, 20000), default=25.0, show_default=True,
              help="Target radius, in km.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), help="Write the fitted table here, for routing.budget_table.")
@click.option("--origin", help="What the runs are, in one line; it is kept in the table.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Write a chart of accuracy against cost to this SVG file. With --budget, it shows the limit and the plan.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@config_option
@profile_options
def command(
    args: AppArgs, budget: Budget | None, runs: tuple[Path, ...], policy: int | None, target_radius_km: float,
    out: Path | None, origin: str | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Show what the service does with a budget, how often such answers were right, and what they take.

    The figures come from a table that was fitted to recorded runs. All its rows are drawn as a frontier. With
    --runs, the table is fitted to your own runs. Record each of them with `geotts eval run --depth deep --stop none`,
    with another --n, limits.max_turns, limits.answer_draws, verifier.questions or --stop. The table for an engine
    without recorded runs is from synthetic answers (--policy).
    """
    _check_inputs(runs, policy, out, origin)
    planner = make_planner(args)
    if runs:
        planner = planner.with_table(fit_budget(_read_runs(runs), origin=origin or "", command=_command_text(runs)))
    elif policy is not None:
        planner = planner.with_table(asyncio.run(policy_table(make_world(args.data_dir), policy)))
    if out is not None:
        planner.table.write(out)
        about = f"{planner.table.origin} (kind of N: {planner.table.kind_of_n})"
        STDERR.print(f"{out}: {about}", soft_wrap=True, markup=False)
    choice = None
    if budget is not None:
        dialect = make_dialect(args.dialect, args)
        possible = ways_of_request(LocateOptions(), draws_answers=not dialect.released)
        choice = planner.choose(budget, target_radius_km, keeps_turns=dialect.published, possible=possible)
    if plot is not None:
        plot.write_text(frontier_svg(planner, band_of(target_radius_km), choice), encoding="utf-8")
    if choice is not None:
        _show_choice(choice, as_json)
        if not as_json:
            _print_frontier(planner, target_radius_km, choice)
    elif as_json:
        click.echo(planner.table.json_bytes())
    else:
        _print_frontier(planner, target_radius_km)


def _check_inputs(runs: Sequence[Path], policy: int | None, out: Path | None, origin: str | None) -> None:
    if runs and policy is not None:
        raise click.UsageError("the table is fitted either to --runs or to --policy: leave one of them out")
    if out is not None and not runs and policy is None:
        raise click.BadParameter("writes a fitted table: give --runs or --policy too", param_hint="--out")
    if origin is not None and not runs:
        raise click.BadParameter("says what --runs are: give them too", param_hint="--origin")


def _read_runs(runs: Sequence[Path]) -> dict[str, list[Record]]:
    return {str(path): read_records(path) for path in runs}


def _command_text(runs: Sequence[Path]) -> str:
    return "geotts plan " + " ".join(f"--runs {Path(*path.parts[-2:])}" for path in runs)


def _show_choice(choice: BudgetChoice, as_json: bool) -> None:
    if as_json:
        click.echo(choice.json_bytes())
        return
    row, cost = choice.row, choice.cost
    parts = [f"{row.n} rollout{'' if row.n == 1 else 's'} of up to {row.turns} turn{'' if row.turns == 1 else 's'}"]
    parts += [f"a mixture of {choice.models} models" if choice.kind_of_n is KindOfN.MIXTURE else choice.kind_of_n]
    parts += [f"{row.answer_draws} answers drawn of each"] if row.answer_draws > 1 else []
    parts += [f"{row.questions} questions of the verifier"] if row.questions else []
    _print_line("plan", f"{', '.join(parts)}; stop {row.stop}")
    fitted_on = f"{row.photos} answers of {choice.runs} (kind of N: {choice.fitted_on})"
    _print_line("right", f"{choice.right} within {choice.radius_km:g} km, in {fitted_on}")
    _print_line("tokens", _amount_text(cost.tokens, "", 0))
    _print_line("seconds", _amount_text(cost.seconds, " s", 1))
    if cost.tool_calls is not None:
        _print_line("calls", _amount_text(cost.tool_calls, " tool calls", 0))
    _print_line("money", _amount_text(cost.money_usd, " USD", 4))
    _print_line("why", choice.sentence)


def _print_line(name: str, text: str) -> None:
    _STDOUT.print(f"{name:8}{text}", soft_wrap=True, markup=False)


def _amount_text(amount: Amount | None, unit: str, digits: int) -> str:
    if amount is None:
        return "not known for this engine"
    return (
        f"{amount.mean:,.{digits}f}{unit} on average; nine of ten requests take at most {amount.p90:,.{digits}f}{unit}"
    )


def _print_frontier(planner: BudgetPlanner, radius_km: float, choice: BudgetChoice | None = None) -> None:
    """The origin of the table and its frontier."""
    table = planner.table
    about = f"{table.origin} (engine {table.engine}; kind of N: {table.kind_of_n})"
    _STDOUT.print(about, soft_wrap=True, markup=False)
    band = band_of(radius_km)
    _STDOUT.print(
        f"Right within {RADIUS_KM[band]:g} km; nine of ten requests take no more than the costs. "
        "● no other row costs fewer tokens and is right more often"
        f"{'' if choice is None else '; → the plan'}",
        soft_wrap=True,
        markup=False,
    )
    for line in frontier_lines(planner, band, choice):
        _STDOUT.print(line, soft_wrap=True, markup=False)
