"""The verifier without a model: ledgers, weighted votes, clusters, calibrated radii.

Deterministic, indifferent to the order of rollouts, works from one rollout up, and never takes a rollout's own
confidence at face value.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from tts.domain.answer import Verdict
from tts.domain.geo import Area, Countries
from tts.domain.hypothesis import Hypothesis
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.geodata.datum import as_wgs84
from tts.ports import VerdictText, VerifyRequest
from tts.verify.assemble import abstention, verdict_for
from tts.verify.calibration import Calibration
from tts.verify.evidence import build_ledger
from tts.verify.ledger import RolloutLedger
from tts.verify.pool import pooled
from tts.verify.ruled import ruled_verdict
from tts.verify.ruling import Ruling
from tts.verify.selection import Cluster, clusters_of
from tts.verify.spread import Spread, spread_of
from tts.verify.votes import Vote, votes_from
from tts.verify.world import World

_AT_ONCE_CHARS = 100_000  # a verdict on less takes some milliseconds: going to a thread and back costs as much


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything between trajectories and verdict; calibration is fitted on it. Without votes there are no clusters."""

    ledgers: tuple[RolloutLedger, ...]
    votes: tuple[Vote, ...]
    clusters: tuple[Cluster, ...]
    spread: Spread | None


class ConsensusVerifier:
    """The `Verifier` port over a world and a calibration."""

    def __init__(self, world: World, calibration: Calibration) -> None:
        self._world = world
        self._calibration = calibration

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerdictText | Verdict]:
        large = sum(len(trajectory.text) for trajectory in request.trajectories) > _AT_ONCE_CHARS
        verdict = await asyncio.to_thread(self.decide, request) if large else self.decide(request)
        yield VerdictText(text=verdict.explanation)
        yield verdict

    def judge(self, request: VerifyRequest) -> Judgement:
        return judge(request.trajectories, request.readings, self._world, within=request.options.within)

    def decide(self, request: VerifyRequest, judged: Judgement | None = None) -> Verdict:
        judged = judged or self.judge(request)
        target = request.options.target_radius_km
        if judged.spread is None:
            return abstention(judged.ledgers, target, self._world)
        return verdict_for(
            judged.clusters,
            judged.ledgers,
            judged.spread,
            self._calibration,
            target_radius_km=target,
            world=self._world,
        )

    def ruled(self, request: VerifyRequest, judged: Judgement, ruling: Ruling) -> Verdict:
        """The verdict for a branch that a verifier model chose."""
        return ruled_verdict(
            ruling,
            clusters=judged.clusters,
            votes=judged.votes,
            ledgers=judged.ledgers,
            rollouts=len(request.trajectories),
            calibration=self._calibration,
            target_radius_km=request.options.target_radius_km,
            world=self._world,
        )


def judge(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], world: World, *, within: Area | None = None
) -> Judgement:
    """Weigh trajectories. Votes outside the area the caller named do not count."""
    built = [build_ledger(trajectory, readings, world) for trajectory in trajectories]
    ledgers = tuple(ledger for ledger in built if ledger is not None)
    votes = votes_from([ledger for ledger in ledgers if _allowed(ledger.hypothesis, within, world)], world)
    together = pooled(trajectories, readings, votes, world, within)
    return _weighed(ledgers, [] if together.doubted else votes, together.vote, len(trajectories), world)


def weigh(ledgers: Sequence[RolloutLedger], rollouts: int, world: World, *, within: Area | None = None) -> Judgement:
    """From ledgers on: votes, clusters, spread. `rollouts` counts all that ended, also those without a ledger."""
    votes = votes_from([ledger for ledger in ledgers if _allowed(ledger.hypothesis, within, world)], world)
    return _weighed(ledgers, votes, None, rollouts, world)


def _weighed(
    ledgers: Sequence[RolloutLedger], votes: Sequence[Vote], together: Vote | None, rollouts: int, world: World
) -> Judgement:
    """How far votes agree is told by those of the rollouts, as far as there are any."""
    every = [*votes, together] if together is not None else list(votes)
    if not every:
        return Judgement(tuple(ledgers), (), (), None)
    clusters = clusters_of(every, world)
    spread = spread_of(clusters[0], votes or every, rollouts, world)
    return Judgement(tuple(ledgers), tuple(every), tuple(clusters), spread)


def _allowed(said: Hypothesis, within: Area | None, world: World) -> bool:
    if said.point is None or within is None:
        return said.point is not None
    point = as_wgs84(said.point, said.datum)
    if isinstance(within, Countries):
        return any(world.lies_in(point, code) for code in within.codes)
    return within.contains(point)
