"""How often a verifier is right about scenarios, and how often an attack moves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tts.domain.geo import LatLon, distance_km
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.domain.value import Value
from tts.eval.synthetic.scenario import RIGHT_KM, Scenario
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge, weigh

_MOVED_KM = 1.0

Decide = Callable[[Sequence[Trajectory], Sequence[Reading]], LatLon | None]


class FamilyScore(Value):
    """Percentages. `moved` is None for families without an attack."""

    count: int
    right: float
    moved: float | None = None


def score(scenarios: Iterable[Scenario], decide: Decide) -> FamilyScore:
    """An abstention is not right. An attack has moved a verdict when it differs from that without the attack."""
    right, attacked, moved, count = 0, 0, 0, 0
    for scenario in scenarios:
        count += 1
        point = decide(scenario.trajectories, scenario.readings)
        right += _is_close(point, scenario.truth, RIGHT_KM)
        if scenario.clean is not None:
            attacked += 1
            moved += not _is_close(point, decide(scenario.clean.trajectories, scenario.clean.readings), _MOVED_KM)
    return FamilyScore(
        count=count,
        right=round(100.0 * right / max(1, count), 2),
        moved=round(100.0 * moved / attacked, 2) if attacked else None,
    )


def consensus(world: World) -> Decide:
    """The verifier as it is shipped."""

    def decide(trajectories: Sequence[Trajectory], readings: Sequence[Reading]) -> LatLon | None:
        clusters = judge(trajectories, readings, world).clusters
        return clusters[0].centre if clusters else None

    return decide


def without_ledger(world: World) -> Decide:
    """The same verifier with empty ledgers: geometry only."""

    def decide(trajectories: Sequence[Trajectory], readings: Sequence[Reading]) -> LatLon | None:
        bare = [
            RolloutLedger(rollout_id=t.rollout_id, hypothesis=t.best, entries=(), grounding=0.0)
            for t in trajectories
            if t.best is not None
        ]
        clusters = weigh(bare, len(trajectories), world).clusters
        return clusters[0].centre if clusters else None

    return decide


def majority_vote(trajectories: Sequence[Trajectory], readings: Sequence[Reading]) -> LatLon | None:
    """The point that most rollouts stand within 25 km of; the first of equals in order of their coordinates."""
    stated = [t.best.point for t in trajectories if t.best is not None and t.best.point is not None]
    ordered = sorted(stated, key=lambda point: (point.lat, point.lon))
    return max(ordered, key=lambda point: sum(_is_close(point, o, RIGHT_KM) for o in ordered), default=None)


def _is_close(point: LatLon | None, other: LatLon | None, km: float) -> bool:
    if point is None or other is None:
        return point is other
    return distance_km(point, other) <= km
