"""Which rollouts rest on the same statements of tools: two that cite one statement are one witness.

This is a fast approximation for the watch, without a gazetteer; the verifier's ledger has the full check.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.geo import distance_km
from tts.domain.tooling import PlaceFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.verify.evidence.evidence_sources import Source, sources_of
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.page_dedup import merge_same_pages, page_witness


class Witnesses:
    """Remembers what ended rollouts rest on, so that each is read once."""

    def __init__(self) -> None:
        self._witnesses_by_rollout: dict[int, frozenset[str]] = {}

    def shares(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """For each rollout 1 / (rollouts that rest on the same statements, partly common ones counted in part)."""
        rests = merge_same_pages([self.witnesses_of(trajectory) for trajectory in trajectories])
        return [1.0 / sum(_common_share(i == j, a, b) for j, b in enumerate(rests)) for i, a in enumerate(rests)]

    def witnesses_of(self, trajectory: Trajectory) -> frozenset[str]:
        """What a rollout rests on; nothing while it runs."""
        if trajectory.stop_reason is None:
            return frozenset()
        if trajectory.rollout_id not in self._witnesses_by_rollout:
            self._witnesses_by_rollout[trajectory.rollout_id] = statements_of(trajectory)
        return self._witnesses_by_rollout[trajectory.rollout_id]


def statements_of(trajectory: Trajectory) -> frozenset[str]:
    """Names of the tool statements that a rollout's belief rests on: places near its point, pages it cites."""
    best = trajectory.best
    if best is None or best.point is None:
        return frozenset()
    cited = {claim.call_id for claim in best.claims if claim.call_id}
    point = best.point
    found = set()
    for source in sources_of(trajectory):
        fact = source.fact
        if isinstance(fact, PlaceFact) and not source.is_echo and fact.point is not None:
            if distance_km(fact.point, point) <= NEAR_KM:
                found.add(f"place:{fact.source}:{fact.id}")
        elif isinstance(fact, WebFact) and _cites(source, cited):
            found.add(page_witness(fact))
    return frozenset(found)


def _cites(source: Source, cited: set[str]) -> bool:
    return source.result.call_id in cited


def _common_share(same: bool, a: frozenset[str], b: frozenset[str]) -> float:
    if same:
        return 1.0
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0
