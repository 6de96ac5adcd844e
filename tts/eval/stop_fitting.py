"""Fits the table that the stop policy `loss` starts from (`tts.domain.stop_table`) to recorded runs.

The rollouts of each photo end in several random orders, and each number of them counts as all there were. Every state
on the way is compared with the end: whether the place in front changed, and whether the answer was right within the
radius.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tts.domain.geo import TABLE_KM, distance_km
from tts.domain.stop_policy import StopPolicy
from tts.domain.stop_settings import TownGuess
from tts.domain.stop_table import MOST_VOTES, BandTable, Cell, CellLoss, StopTable, band_of
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.errors import DataError
from tts.eval.labelled_cases import LabelledCase, fitted_kind_of_cases
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

_RADII_KM = TABLE_KM[1:]
_N_ORDERS = 6
_MIN_SAMPLES = 30
_UNSEEN_VALUE = 1.0
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class _Step:
    """One state on the way: with which probability the place in front changes after it, to one with so many votes, and
    what the answer gains, from -1 to 1."""

    cell: Cell
    remaining: int
    moved: float
    votes: int
    gain: float


@dataclass(frozen=True, slots=True)
class _Ending:
    """The rollouts of one photo in the order in which they end, with the error of the answer over the first so many."""

    case: LabelledCase
    order: tuple[int, ...]
    errors_km: tuple[float, ...]


def fit_stop(
    families: Mapping[str, Sequence[LabelledCase]],
    world: World,
    guesses: TownGuess,
    *,
    command: str = "",
    seed: int = 0,
) -> StopTable:
    """The table of the families together: in every place the largest loss, and the largest worth, of any of them.

    Raises:
        DataError: when no photo has two rollouts.
    """
    endings = {name: list(_draw_endings(cases, world, seed)) for name, cases in families.items()}
    if not all(endings.values()):
        raise DataError("to fit when to stop, every family needs photos with two rollouts or more")
    bands = {band_of(km): _band([_steps(found, km, guesses) for found in endings.values()]) for km in _RADII_KM}
    photos = ", ".join(f"{name} ({len(cases)} photos)" for name, cases in families.items())
    kind = fitted_kind_of_cases(case for cases in families.values() for case in cases)
    return StopTable(origin=photos, command=command, kind_of_n=kind, bands=bands)


def _draw_endings(cases: Sequence[LabelledCase], world: World, seed: int) -> Iterator[_Ending]:
    rng = random.Random(seed)
    for case in cases:
        n = len(case.trajectories)
        if n < 2:
            continue
        known: dict[frozenset[int], float] = {}
        for _ in range(_N_ORDERS):
            order = tuple(rng.sample(range(n), n))
            sets = [frozenset(order[:count]) for count in range(1, n + 1)]
            for chosen in sets:
                if chosen not in known:
                    known[chosen] = _error_km(case, chosen, world)
            yield _Ending(case, order, tuple(known[chosen] for chosen in sets))


def _error_km(case: LabelledCase, chosen: frozenset[int], world: World) -> float:
    clusters = judge([case.trajectories[i] for i in sorted(chosen)], (), world).clusters
    return distance_km(clusters[0].centre, case.truth) if clusters else float("inf")


def _steps(endings: Sequence[_Ending], radius_km: float, guesses: TownGuess) -> list[_Step]:
    watch = ConsensusWatch(StopPolicy(), radius_km, guesses)
    steps = []
    for ending in endings:
        watch.forget()
        trajectories = [ending.case.trajectories[i] for i in ending.order]
        at = [watch.vote_count(trajectories[:count]) for count in range(1, len(trajectories) + 1)]
        right = [error < radius_km for error in ending.errors_km]
        for end in range(1, len(at)):
            for now in range(end):
                gain = float(right[end]) - float(right[now])
                steps.append(
                    _Step(at[now].cell, end - now, at[now].probability_of_change(at[end]), at[end].votes, gain)
                )
    return steps


def _band(families: Sequence[Sequence[_Step]]) -> BandTable:
    worths = [_worth_of_changes(steps) for steps in families]
    first, second, third = (_largest_value([worth[votes] for worth in worths]) for votes in range(MOST_VOTES))
    worth = (first, second, third)
    found: defaultdict[tuple[Cell, int], list[tuple[float, int]]] = defaultdict(list)
    for steps in families:
        for place, loss, runs in _losses(steps, worth):
            found[place].append((loss, runs))
    cells = tuple(
        CellLoss(
            **cell._asdict(), left=remaining, loss=max(loss for loss, _ in rows), runs=sum(runs for _, runs in rows)
        )
        for (cell, remaining), rows in sorted(found.items())
    )
    return BandTable(worth=worth, cells=cells)


def _largest_value(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return round(min(1.0, max(known)), _DIGITS) if known else _UNSEEN_VALUE


def _worth_of_changes(steps: Sequence[_Step]) -> list[float | None]:
    """What a change of place to one with one, two, three witnesses gains; None where too few changes tell."""
    worth: list[float | None] = []
    for votes in range(1, MOST_VOTES + 1):
        moves = [step for step in steps if step.moved > 0 and min(step.votes, MOST_VOTES) == votes]
        weight = sum(step.moved for step in moves)
        worth.append(sum(step.gain for step in moves) / weight if len(moves) >= _MIN_SAMPLES else None)
    return worth


def _losses(steps: Sequence[_Step], worth: tuple[float, float, float]) -> Iterator[tuple[tuple[Cell, int], float, int]]:
    """What stopping loses in each cell: how often the place changes, and what such a change is worth."""
    cells: defaultdict[tuple[Cell, int], list[float]] = defaultdict(list)
    for step in steps:
        gained = step.moved * worth[min(step.votes, MOST_VOTES) - 1] if step.votes else 0.0
        cells[step.cell, step.remaining].append(gained)
    for place, losses in cells.items():
        if len(losses) >= _MIN_SAMPLES:
            yield place, round(float(np.mean(losses)), _DIGITS + 1), len(losses)
