"""`geotts bench consensus`: what the verifier adds to its rollouts, sees through, and promises."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from deployments.cli.console import config_option
from deployments.wiring.parts import make_world
from geotts_benchmarks.harness import DEFAULT_LOGS, Result, report, say
from tts.config import AppArgs
from tts.domain.geo import Floats, LatLon, distance_km
from tts.errors import DataError
from tts.eval.calibrating import Case, held_out, judged, mean_of
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent
from tts.eval.metrics.sampling import best_of_n_km
from tts.eval.panel import Panel, panels_from_logs
from tts.eval.parsers import ParserName
from tts.eval.synthetic.families import FAMILIES, HELD_OUT, generate
from tts.eval.synthetic.score import consensus, majority_vote, score, without_ledger
from tts.verify.evidence.world import World


@click.command()
@click.option("--logs", type=click.Path(path_type=Path), default=DEFAULT_LOGS, help="A folder of published logs.")
@click.option("--parser", type=click.Choice(["paper", "serving"]), default="paper", show_default=True)
@click.option("--count", type=click.IntRange(min=1), default=200, show_default=True, help="Scenarios a family.")
@click.option("--splits", type=click.IntRange(min=1), default=100, show_default=True, help="Random halves.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--quick", is_flag=True, help="20 scenarios a family, 5 splits.")
@config_option
def command(args: AppArgs, logs: Path, parser: ParserName, count: int, splits: int, seed: int, quick: bool) -> None:
    """The consensus on published logs, on synthetic trajectory sets, and its calibration on halves it has not seen."""
    if quick:
        count, splits = min(count, 20), min(splits, 5)
    report("consensus", lambda: measure(args, logs, parser, count, splits, seed))


def measure(args: AppArgs, logs: Path, parser: ParserName, count: int, splits: int, seed: int) -> Result:
    """The figures on published logs and on synthetic sets. Raises click.BadParameter when the logs cannot be read."""
    world = make_world(args.data_dir)
    return {**_on_logs(world, logs, parser, splits, seed), **_on_synthetic(world, count, seed)}


def _on_logs(world: World, logs: Path, parser: ParserName, splits: int, seed: int) -> Result:
    try:
        names, panels = panels_from_logs(logs, parser=parser, seed=seed)
    except DataError as error:
        raise click.BadParameter(error.detail, param_hint="--logs") from error
    decide = consensus(world)
    errors = _errors([decide(panel.trajectories, ()) for panel in panels], panels)
    single = np.stack([_errors([panel.guesses[i] for panel in panels], panels) for i in range(len(names))], axis=1)
    by_system = {name: _rounded(single[:, i]) for i, name in enumerate(names)}
    say(f"{len(panels)} photos in {len(names)} logs: {_rounded(errors)}")
    verdicts = judged((Case(panel.key, panel.truth, panel.trajectories) for panel in panels), world)
    halves = mean_of([held_out(verdicts, seed=k) for k in range(splits)])
    say(f"calibration over {splits} halves: {halves.model_dump()}")
    return {
        "photos": len(panels),
        "consensus": _rounded(errors),
        "best_single": max(by_system.values(), key=lambda acc: acc[-1]),
        "by_system": by_system,
        "best_of_n": _rounded(best_of_n_km(single)),
        "splits": splits,
        "cover90": round(halves.cover90, 2),
        "cover50": round(halves.cover50, 2),
        "ece": round(halves.ece, 4),
        "brier_skill": round(halves.brier_skill, 4),
        "radius_saved": round(halves.radius_saved, 4),
        "radius90_mean_km": round(halves.radius90_mean_km, 1),
    }


def _on_synthetic(world: World, count: int, seed: int) -> Result:
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
        say(f"{family}: {found[family]}")
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


def _errors(points: list[LatLon | None], panels: list[Panel]) -> Floats:
    pairs = zip(points, panels, strict=True)
    return np.array([np.nan if p is None else distance_km(p, panel.truth) for p, panel in pairs], dtype=np.float64)


def _rounded(errors_km: Floats) -> list[float]:
    return [round(share, 2) for share in accuracy_percent(errors_km, PAPER_KM)]
