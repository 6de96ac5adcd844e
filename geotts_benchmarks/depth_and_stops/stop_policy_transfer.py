"""Whether the stop policy `loss` keeps its bound on rollouts that its table was not fitted on: two sets of logs,
each with the table of the other. The policy learns on the way, as a service does, and sees no truth.
"""

from __future__ import annotations

from pathlib import Path

from geotts_benchmarks.depth_and_stops.recorded_rollouts import KIND_OF_LOGS, recorded_photos
from geotts_benchmarks.depth_and_stops.stop_frontier import DEFAULT, Point, frontier
from geotts_benchmarks.harness import Result, print_progress
from tts.ensemble.guesses import TownCentres
from tts.eval.labelled_cases import cases_of
from tts.eval.stop_fitting import fit_stop
from tts.verify.evidence.world import World


def stopped_elsewhere(one: Path, other: Path, world: World, shuffles: int) -> Result:
    """Losses and savings of the default policy, both ways, and the mean of what it saves at each wanted radius."""
    ways = {here.name: _measure_transfer(here, there, world, shuffles) for here, there in ((one, other), (other, one))}
    saved: dict[str, float] = {}
    for target in ways[one.name]:
        figures = [points[target].saved for points in ways.values()]
        saved[target] = round(sum(figures) / len(figures), 2)
    mean = round(sum(saved.values()) / len(saved), 2)
    return {
        "kind_of_n": {"elsewhere": KIND_OF_LOGS},
        "elsewhere": {
            name: {target: {**point.keys(), "loss_at_most_1": point.within_allowed} for target, point in points.items()}
            for name, points in ways.items()
        },
        "elsewhere_saved_mean": {**saved, "all": mean},
    }


def _measure_transfer(here: Path, there: Path, world: World, shuffles: int) -> dict[str, Point]:
    print_progress(f"{here.name}, with the table of {there.name}")
    table = fit_stop({there.name: cases_of(there)}, world, TownCentres(world.gazetteer))
    found = frontier(recorded_photos(here), world, shuffles, table, (DEFAULT,))
    return {f"{target:g}": points[0] for target, points in found.items()}
