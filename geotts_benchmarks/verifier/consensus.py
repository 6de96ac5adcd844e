"""`geotts bench consensus`: what the verifier adds, which wrong majorities it detects, whether its radii hold."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from deployments.cli.console import config_option
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from geotts_benchmarks.harness import DEFAULT_LOGS, Result, print_progress, report
from geotts_benchmarks.verifier.consensus_draws import measure_answer_draws
from geotts_benchmarks.verifier.consensus_guesswork import guesswork_elsewhere
from geotts_benchmarks.verifier.consensus_logs import (
    LogSet,
    compare_reliabilities,
    cover_elsewhere,
    regions_in_halves,
)
from geotts_benchmarks.verifier.consensus_policies import measure_policies
from geotts_benchmarks.verifier.consensus_questions import measure_questions
from geotts_benchmarks.verifier.verifier_score import consensus, majority_vote, score, without_ledger
from tts.domain.geo import Floats
from tts.domain.request import MAX_QUESTIONS
from tts.errors import DataError
from tts.eval.answer_parsers import ParserName
from tts.eval.calibration_fitting import held_out_quality, mean_of
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent
from tts.eval.metrics.sampling import best_of_n_km
from tts.eval.panel import Panel
from tts.eval.source_reliability import consensus_errors_km
from tts.eval.synthetic.families import FAMILIES, HELD_OUT, generate
from tts.verify.evidence.world import World


@click.command()
@click.option("--logs", type=click.Path(path_type=Path), default=DEFAULT_LOGS, help="Folder of published logs.")
@click.option(
    "--fit-on",
    type=click.Path(path_type=Path),
    help="Folder of logs of other models, on which to fit the radii and the weights of guesses (4 minutes).",
)
@click.option(
    "--sources",
    type=click.Choice(["anonymous", "named"]),
    default="anonymous",
    show_default=True,
    help="Whether the figure `consensus` uses which answers share a model. Both figures are reported.",
)
@click.option("--parser", type=click.Choice(["paper", "serving"]), default="paper", show_default=True)
@click.option("--count", type=click.IntRange(min=1), default=200, show_default=True, help="Scenarios of each family.")
@click.option(
    "--splits", type=click.IntRange(min=1), default=100, show_default=True, help="Random divisions into two halves."
)
@click.option(
    "--policies",
    type=click.IntRange(min=0),
    default=80,
    show_default=True,
    help="Simulated photos for each dependence of rollouts of one model; 0 leaves this part out.",
)
@click.option(
    "--questions",
    type=click.IntRange(0, MAX_QUESTIONS),
    default=4,
    show_default=True,
    help="Tool calls of the verifier, to compare with none; 0 leaves the comparison out.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--quick", is_flag=True, help="Use 20 scenarios of each family, and 5 divisions.")
@config_option
def command(
    args: AppArgs,
    logs: Path,
    fit_on: Path | None,
    sources: str,
    parser: ParserName,
    count: int,
    splits: int,
    policies: int,
    questions: int,
    seed: int,
    quick: bool,
) -> None:
    """The consensus on published logs and on synthetic trajectory sets, and its calibration on held-out halves."""
    if quick:
        count, splits = min(count, 20), min(splits, 5)
    world = make_world(args.data_dir)
    report(
        "consensus",
        lambda: {
            **_measure_logs(world, logs, fit_on, parser, splits, seed, sources),
            **_measure_synthetic(world, count, seed),
            **measure_policies(world, 20 if quick and policies else policies, seed),
            **measure_questions(world, _panels(logs, parser, seed), count, seed, questions),
            **measure_answer_draws(world, 20 if quick and policies else policies, seed),
        },
    )


def _measure_logs(
    world: World, logs: Path, fit_on: Path | None, parser: ParserName, splits: int, seed: int, sources: str
) -> Result:
    try:
        log_set = LogSet.read(logs, parser, seed)
        other = LogSet.read(fit_on, parser, seed) if fit_on is not None else None
    except DataError as error:
        raise click.BadParameter(error.detail, param_hint="--logs") from error
    anonymous = _round_accuracy(consensus_errors_km(log_set.named_cases(), world, None))
    by_system = {name: _round_accuracy(log_set.single[:, i]) for i, name in enumerate(log_set.names)}
    print_progress(f"{len(log_set.panels)} photos in {len(log_set.names)} logs: {anonymous}")
    by_sources = compare_reliabilities(log_set, world)
    print_progress(f"{by_sources}")
    verdicts = log_set.verdict_columns(world)
    halves = mean_of([held_out_quality(verdicts, seed=k) for k in range(splits)])
    print_progress(f"calibration over {splits} halves: {halves.model_dump()}")
    return {
        "kind_of_n": "mixture of models, no tools",
        "photos": len(log_set.panels),
        "sources": sources,
        "consensus": anonymous if sources == "anonymous" else by_sources["named_labels"],
        "anonymous": anonymous,
        **by_sources,
        "best_single": max(by_system.values(), key=lambda acc: acc[-1]),
        "by_system": by_system,
        "best_of_n": _round_accuracy(best_of_n_km(log_set.single)),
        "splits": splits,
        "cover90": round(halves.cover90, 2),
        "cover50": round(halves.cover50, 2),
        "ece": round(halves.ece, 4),
        "brier_skill": round(halves.brier_skill, 4),
        "radius_saved": round(halves.radius_saved, 4),
        "radius90_mean_km": round(halves.radius90_mean_km, 1),
        "regions_in_halves": regions_in_halves(log_set, world),
        **({} if other is None else {"fitted_elsewhere": _fit_elsewhere(log_set, other, world)}),
    }


def _fit_elsewhere(log_set: LogSet, other: LogSet, world: World) -> Result:
    return {**cover_elsewhere(log_set, other, world), "guesswork": guesswork_elsewhere(log_set, other, world)}


def _panels(logs: Path, parser: ParserName, seed: int) -> list[Panel]:
    return LogSet.read(logs, parser, seed).panels


def _measure_synthetic(world: World, count: int, seed: int) -> Result:
    """`synthetic_right` and `injection_moved` are those of the worst family; the held-out one stands by itself too."""
    found: dict[str, Result] = {}
    for family in FAMILIES:
        scenarios = generate(family, count, seed, world.gazetteer, world.countries)
        with_ledger, bare = score(scenarios, consensus(world)), score(scenarios, without_ledger(world))
        vote = score(scenarios, majority_vote)
        found[family] = {
            "right": with_ledger.right,
            "ledger_off": bare.right,
            "majority_vote": vote.right,
            **({} if with_ledger.moved is None else {"moved": with_ledger.moved, "moved_ledger_off": bare.moved}),
        }
        print_progress(f"{family}: {found[family]}")
    return {
        "count": count,
        "synthetic_right": min(row["right"] for row in found.values()),
        "synthetic_mean": round(float(np.mean([row["right"] for row in found.values()])), 2),
        "held_out_right": {family: found[family]["right"] for family in HELD_OUT},
        "ledger_off_mean": round(float(np.mean([row["ledger_off"] for row in found.values()])), 2),
        "majority_vote_best": max(row["majority_vote"] for row in found.values()),
        "injection_moved": max((row["moved"] for row in found.values() if "moved" in row), default=0.0),
        "by_family": found,
    }


def _round_accuracy(errors_km: Floats) -> list[float]:
    return [round(share, 2) for share in accuracy_percent(errors_km, PAPER_KM)]
