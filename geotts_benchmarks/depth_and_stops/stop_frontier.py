"""Every stop policy on recorded rollouts: what it saves against what it loses, as a table and a picture."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from geotts_benchmarks.depth_and_stops.recorded_rollouts import RecordedPhoto
from geotts_benchmarks.harness import Result, print_progress
from tts.domain.geo import TABLE_KM
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_policy import StopPolicy
from tts.domain.stop_settings import TownGuess
from tts.domain.stop_table import StopTable
from tts.domain.trajectory import Run
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.ensemble.guesses import TownCentres
from tts.ensemble.leader import LeaderRule
from tts.ensemble.loss_rule import LossRule
from tts.ensemble.vote_count import VoteCount
from tts.eval.metrics.intervals import Interval, bootstrap_mean
from tts.verify.evidence.world import World

TARGETS_KM = TABLE_KM[1:]
POLICIES = (
    "none", "first:1", "first:2", "first:3", "quorum:2", "quorum:3", "beta:.7", "beta:.85", "beta:.9", "beta:.95",
    "worth:.7", "worth:.75", "worth:.8", "worth:.82", "worth:.85", "worth:.9", "worth:.95",
    "careful:.7", "careful:.75", "careful:.8", "careful:.82", "careful:.85", "careful:.9", "careful:.95",
    "loss:.5", "loss:1", "loss:2", "loss:3",
)  # fmt: skip
DEFAULT = "loss:1"
_ALLOWED_LOSS = 1.0  # percentage points that the default policy may lose
_COLOURS = {"none": "#555", "first": "#c33", "quorum": "#e80", "beta": "#28c", "worth": "#2a6", "careful": "#63b",
            "loss": "#000"}  # fmt: skip

Decided = dict[tuple[int, frozenset[int]], bool]
"""(photo, rollouts that ended) → whether the watch stops the others."""


@dataclass(frozen=True, slots=True)
class Point:
    """Percent of rollouts saved, and percentage points lost against all of them and gained over the first three.

    `interval` holds the loss with probability 0.95: a bootstrap over photos, each with all its orders.
    """

    policy: str
    saved: float
    loss: float
    above_first3: float
    interval: Interval

    def keys(self) -> Result:
        """The figures under their names, without the policy."""
        bounds = [round(self.interval.low, 2), round(self.interval.high, 2)]
        return {"saved": self.saved, "loss": self.loss, "above_first3": self.above_first3, "loss_interval": bounds}

    @property
    def within_allowed(self) -> str:
        """Whether the loss is at most one point: an interval that spans the bar decides nothing."""
        if self.interval.high <= _ALLOWED_LOSS:
            return "yes"
        return "no" if self.interval.low > _ALLOWED_LOSS else "not decided"


def frontier(
    photos: Sequence[RecordedPhoto], world: World, shuffles: int, table: StopTable, policies: Sequence[str] = POLICIES
) -> dict[float, list[Point]]:
    """A point for every policy at every wanted radius; orders come from synthetic latencies, seeded.

    `table` is what the policy `loss` starts from. It learns on the way, as a service does; every shuffle is a service
    that starts anew and gets the photos in another order.
    """
    centres = cache(TownCentres(world.gazetteer))
    found: dict[float, list[Point]] = {}
    for target in TARGETS_KM:
        orders = _draw_orders(photos, shuffles)
        found[target], standings = [], _VoteCounts(target, centres)
        for name in policies:
            simulate = (
                _learning_simulation(name, target, standings, table)
                if name.startswith("loss")
                else _fixed_simulation(name, target, centres)
            )
            found[target].append(_measure_point(name, simulate, orders, target, world, shuffles))
        for point in found[target]:
            print_progress(
                f"{target:5.0f} km {point.policy:10} saved {point.saved:5.1f} % loss {point.interval} "
                f"above first three {point.above_first3:5.2f}"
            )
    return found


Order = tuple[RecordedPhoto, tuple[int, ...]]
StopSimulation = Callable[[Sequence[Order]], Iterator[frozenset[int]]]
"""From the orders of one shuffle to the rollouts that each photo uses."""


def _fixed_simulation(name: str, target: float, centres: TownGuess) -> StopSimulation:
    """A policy that decides about each request by itself."""
    watch = _watch(name, target, centres)
    decided: Decided = {}
    used = _ids_used_after_leader if name.startswith("careful") else _ids_used_by_watch

    def simulate(orders: Sequence[Order]) -> Iterator[frozenset[int]]:
        for photo, order in orders:
            yield used(watch, photo, order, decided)

    return simulate


def _learning_simulation(name: str, target: float, standings: _VoteCounts, table: StopTable) -> StopSimulation:
    """A policy that learns from one request for the next."""
    points = StopPolicy.parse(name).loss_points

    def simulate(orders: Sequence[Order]) -> Iterator[frozenset[int]]:
        experience = StopExperience(table)
        for photo, order in orders:
            yield _ids_used_by_rule(LossRule(experience, target, points), standings, photo, order)

    return simulate


def _ids_used_by_rule(
    rule: LossRule, standings: _VoteCounts, photo: RecordedPhoto, order: Sequence[int]
) -> frozenset[int]:
    """As the watch asks it: each time a rollout has ended, and at the end, so that it learns."""
    for count in range(1, len(order) + 1):
        ended = frozenset(order[:count])
        if rule.should_stop(standings.votes_of(photo, ended), count, len(order)):
            return ended
    return frozenset(order)


class _VoteCounts:
    """How the votes stand at one wanted radius; each set of rollouts is looked at once."""

    def __init__(self, target: float, centres: TownGuess) -> None:
        self._watch = ConsensusWatch(StopPolicy(), target, centres)
        self._counts: dict[tuple[int, frozenset[int]], VoteCount] = {}

    def votes_of(self, photo: RecordedPhoto, ended: frozenset[int]) -> VoteCount:
        """Of the rollouts of the photo that have ended."""
        key = (id(photo), ended)
        if key not in self._counts:
            self._watch.forget()
            self._counts[key] = self._watch.vote_count([photo.trajectory(i) for i in sorted(ended)])
        return self._counts[key]


def _watch(name: str, target: float, guesses: TownGuess) -> ConsensusWatch:
    """`careful:p` is `worth:p` where the first rollout leads."""
    policy = StopPolicy.parse(name.replace("careful", "worth"))
    return ConsensusWatch(policy, target, guesses, led=name.startswith("careful"))


def _draw_orders(photos: Sequence[RecordedPhoto], shuffles: int) -> list[list[Order]]:
    """For each shuffle, rollouts of every photo in the order in which they end: log-normal latencies, alike for all
    systems. The photos come in random order as well."""
    rng, sequence = random.Random(5), random.Random(6)
    orders = []
    for _ in range(shuffles):
        shuffle: list[Order] = []
        for photo in photos:
            took = [rng.lognormvariate(0.0, 0.5) for _ in photo.answers]
            shuffle.append((photo, tuple(sorted(range(len(took)), key=took.__getitem__))))
        orders.append(sequence.sample(shuffle, len(shuffle)))
    return orders


def _measure_point(
    name: str, simulate: StopSimulation, shuffles: Sequence[Sequence[Order]], target: float, world: World, count: int
) -> Point:
    saved = of_three = 0.0
    lost: defaultdict[int, float] = defaultdict(float)
    for orders in shuffles:
        for (photo, order), used in zip(orders, simulate(orders), strict=True):
            hit = _is_hit(photo, used, target, world)
            saved += 1.0 - len(used) / len(order)
            lost[id(photo)] += (_is_hit(photo, frozenset(order), target, world) - hit) / count
            of_three += hit - _is_hit(photo, frozenset(order[:3]), target, world)
    scale = 100.0 / (count * len(lost))
    interval = bootstrap_mean(100.0 * np.array([*lost.values()]))
    return Point(name, round(scale * saved, 2), round(interval.value, 2), round(scale * of_three, 2), interval)


def _stops_others(watch: ConsensusWatch, photo: RecordedPhoto, ended: frozenset[int], n: int, decided: Decided) -> bool:
    """Whether the watch stops the others of `n` once these rollouts have ended; looked at once for each set."""
    key = (id(photo), ended)
    if key not in decided:
        watch.forget()
        decided[key] = watch.look([photo.trajectory(i) for i in sorted(ended)], n).decided
    return decided[key]


def _ids_used_by_watch(
    watch: ConsensusWatch, photo: RecordedPhoto, order: Sequence[int], decided: Decided
) -> frozenset[int]:
    for count in range(1, len(order)):
        ended = frozenset(order[:count])
        if _stops_others(watch, photo, ended, len(order), decided):
            return ended
    return frozenset(order)


def _ids_used_after_leader(
    watch: ConsensusWatch, photo: RecordedPhoto, order: Sequence[int], decided: Decided
) -> frozenset[int]:
    """As `_ids_used_by_watch`, where the first of the order leads and width `careful` says how many may be started."""
    rule = LeaderRule("careful", watch.radius_km)
    roles = [photo.trajectory(i).model_copy(update={"rollout_id": place}) for place, i in enumerate(order)]
    for count in range(1, len(order)):
        run = Run(rollouts={place: roles[place] for place in range(count)})
        if rule.n_allowed(run, len(order)) <= count:
            if count > 1:
                return frozenset(order[:count])
            continue
        ended = frozenset(order[:count])
        if _stops_others(watch, photo, ended, len(order), decided):
            return ended
    return frozenset(order)


def _is_hit(photo: RecordedPhoto, rollouts: frozenset[int], target: float, world: World) -> bool:
    error = photo.error_km(rollouts, world)
    return error is not None and error < target


def draw(found: dict[float, list[Point]], path: Path) -> None:
    """The frontiers side by side as SVG: saved to the right, lost downwards."""
    panels = [_panel_svg(target, points, 40 + 300 * i) for i, (target, points) in enumerate(found.items())]
    width = 40 + 300 * len(found)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 300" font-family="sans-serif" font-size="10">'
        f'<rect width="{width}" height="300" fill="white"/>{"".join(panels)}</svg>\n'
    )


def _panel_svg(target: float, points: Sequence[Point], left: int) -> str:
    def at(point: Point) -> tuple[float, float]:
        return left + 3.4 * min(75.0, point.saved), 40 + 22 * max(-0.5, min(9.0, point.loss))

    parts = [
        f'<text x="{left}" y="20" font-size="13">within {target:g} km</text>',
        f'<path d="M{left} 30V250H{left + 255}" fill="none" stroke="#999"/>',
        f'<rect x="{left + 85}" y="29" width="170" height="39.6" fill="#2a6" opacity="0.12"/>',
        f'<text x="{left + 80}" y="270">rollouts saved, %</text>',
        *(f'<text x="{left + 3.4 * x:.0f}" y="261">{x}</text>' for x in (0, 25, 50, 75)),
        *(f'<text x="{left - 12}" y="{43 + 22 * y}">{y}</text>' for y in (0, 2, 4, 6, 8)),
    ]
    for point in points:
        x, y = at(point)
        colour = _COLOURS[point.policy.partition(":")[0]]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{point.policy}</title></circle>')
    legend = [
        f'<text x="{left + 200}" y="{180 + 13 * i}" fill="{colour}">{name}</text>'
        for i, (name, colour) in enumerate(_COLOURS.items())
    ]
    return "".join([*parts, *legend])
