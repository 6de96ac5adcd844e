"""The consensus watch: how far the rollouts agree at the radius the caller wants, and whether that is enough to stop.

Hypotheses stream in; those of rollouts that ended are votes, those of running ones are only shown. Votes are clustered
on the ellipsoid at the wanted radius, never wider than a region: agreeing on a country does not stop a search for a
street. Votes that rest on the same tool statements are one witness. Pure arithmetic over a handful of points, because
it runs in the gateway at every step of every request; what the evidence is worth is for the verifier to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tts.decision_weights import weights
from tts.domain.events import ClusterInfo, Consensus
from tts.domain.geo import LatLon, distance_km, distance_rows_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_policy import STOP_POLICIES, Ballot, StopKind, StopPolicy, StopView
from tts.domain.stop_settings import TownGuess
from tts.domain.trajectory import Trajectory
from tts.ensemble.first_turn import LEADER, REGION_KM, TOWN_KM, UNTRUSTED, is_clear
from tts.ensemble.loss_rule import LossRule, guess_tolerance_km
from tts.ensemble.vote_count import VoteCount, count_votes
from tts.ensemble.witnesses import Witnesses

_W = weights("watch")
_TOWN_GUESSES = int(_W["town_guesses"])
_REGION_GUESSES = int(_W["region_guesses"])
_TOLERANCE = 1e-9
_QUADRATURE = tuple(zip(*(column.tolist() for column in np.polynomial.legendre.leggauss(32)), strict=True))
_MAX_CLUSTERS = 5

Row = Sequence[float]


class ConsensusWatch:
    """Watches the trajectories of one request for agreement. Without `guesses`, it never decides that agreement is
    unlikely.

    `led`: the first rollout leads, so what first turns say counts (`tts.ensemble.first_turn`). `experience` is what the
    policy `loss` goes by; without it, by recorded runs alone.
    """

    def __init__(
        self,
        policy: StopPolicy,
        radius_km: float,
        guesses: TownGuess | None = None,
        *,
        led: bool = False,
        experience: StopExperience | None = None,
    ) -> None:
        self._has_leader = led
        self._policy = policy
        self._radius_km = radius_km
        self._reach_km = min(radius_km, REGION_KM)
        self._witnesses = Witnesses()
        self._guesses = guesses
        self._off_centre_by_rollout: dict[int, float] = {}  # of rollouts that ended, in km
        self._loss_rule = None
        if policy.kind is StopKind.LOSS:
            self._loss_rule = LossRule(experience or StopExperience(), radius_km, policy.loss_points)

    @property
    def radius_km(self) -> float:
        """The radius the caller wants."""
        return self._radius_km

    @property
    def active(self) -> bool:
        """Whether the policy may stop rollouts."""
        return self._policy.kind is not StopKind.NONE

    def look(self, trajectories: Sequence[Trajectory], n: int) -> Consensus:
        """The state of agreement among `n` rollouts; `decided`: the policy would stop those that still run."""
        finished = [t for t in trajectories if t.stop_reason is not None]
        ballots = self._ballots(trajectories)
        share, km = _shares_and_distances(ballots)
        ended = [i for i, ballot in enumerate(ballots) if ballot.final]
        outstanding = n - len(finished)
        return Consensus(
            radius_km=self._radius_km,
            clusters=tuple(self._find_clusters(ballots, share, km)),
            finished=len(finished),
            outstanding=outstanding,
            decided=self._is_decided(
                [ballots[i] for i in ended],
                [share[i] for i in ended],
                [[km[i][j] for j in ended] for i in ended],
                len(finished),
                n,
            ),
        )

    def forget(self) -> None:
        """Start with other trajectories: what rollouts rest on is remembered by their numbers."""
        self._witnesses = Witnesses()
        self._off_centre_by_rollout = {}

    def agreement(self, trajectories: Sequence[Trajectory]) -> tuple[float, float]:
        """Witnesses that ended at the place most of them name, and all witnesses that ended with a place."""
        final = [ballot for ballot in self._ballots(trajectories) if ballot.final]
        return (self._best_agreement(final), sum(ballot.share for ballot in final)) if final else (0.0, 0.0)

    def _ballots(self, trajectories: Sequence[Trajectory]) -> list[Ballot]:
        early = self._is_leader_sure(trajectories)
        stated = [
            (trajectory, best, best.point)
            for trajectory in trajectories
            if (best := trajectory.best) is not None
            and best.point is not None
            and trajectory.stop_reason not in UNTRUSTED
        ]
        shares = self._witnesses.shares([trajectory for trajectory, _, _ in stated])
        ballots = []
        for (trajectory, best, point), share in zip(stated, shares, strict=True):
            final = trajectory.stop_reason is not None or (early and is_clear(trajectory, self._radius_km))
            certain = share * self._agreeing_draws_share(point, trajectory.answer_draws)
            ballots.append(Ballot(trajectory.rollout_id, point, final, certain, self._off_centre_km(trajectory, best)))
        return ballots

    def _agreeing_draws_share(self, point: LatLon, draws: Sequence[LatLon | None]) -> float:
        """The share of the draws of an answer that agree with it; 1 where it was not drawn again."""
        near = sum(other is not None and distance_km(point, other) <= self._reach_km for other in draws)
        return (1 + near) / (1 + len(draws))

    def _is_leader_sure(self, trajectories: Sequence[Trajectory]) -> bool:
        """Whether the leader ended and was sure from its first turn: who is as sure counts then while it runs."""
        if not self._has_leader:
            return False
        leader = next((t for t in trajectories if t.rollout_id == LEADER), None)
        return leader is not None and leader.stop_reason is not None and is_clear(leader, self._radius_km)

    def _is_decided(self, final: Sequence[Ballot], share: Row, km: Sequence[Row], finished: int, n: int) -> bool:
        """`share` (m,) and `km` (m, m) are those of the final ballots."""
        kind = self._policy.kind
        if self._loss_rule is not None:
            ended = max(finished, len(final))
            return self._loss_rule.should_stop(self._vote_count(final, share, km, ended - len(final)), ended, n)
        if kind is StopKind.INSTALLED:
            return STOP_POLICIES[self._policy.installed](StopView(final, finished, n, self._radius_km))
        if kind is StopKind.FIRST:
            return finished >= self._policy.quorum_of(n)
        if len(final) < 2 or kind is StopKind.NONE:
            return False
        reach = self._reach_km
        fullest = self._largest_agreement(share, km)
        if kind is StopKind.QUORUM:
            return fullest >= self._policy.quorum_of(n) - _TOLERANCE
        if kind is StopKind.WORTH and fullest < 2.0 - _TOLERANCE and self._is_futile(final):
            return True
        total = sum(share)
        if total < 2.0 - _TOLERANCE:
            return False
        most = fullest
        if kind is StopKind.WORTH:
            most = max(sum(s * min(1.0, max(0.0, 2.0 - away / reach)) for s, away in _pairs(share, row)) for row in km)
        return more_than_half(most, total - most) >= self._policy.probability - _TOLERANCE

    def _vote_count(self, final: Sequence[Ballot], share: Row, km: Sequence[Row], pointless: int) -> VoteCount:
        tolerance_km = guess_tolerance_km(self._radius_km)
        return count_votes(final, share, km, reach_km=self._reach_km, pointless=pointless, tolerance_km=tolerance_km)

    def vote_count(self, trajectories: Sequence[Trajectory]) -> VoteCount:
        """The vote count of the rollouts that have ended."""
        final = [ballot for ballot in self._ballots(trajectories) if ballot.final]
        ended = sum(t.stop_reason is not None for t in trajectories)
        return self._vote_count(final, *_shares_and_distances(final), max(0, ended - len(final)))

    def _is_futile(self, final: Sequence[Ballot]) -> bool:
        """No two agree, and those who only guess show that the photo does not tell: one where a town is wanted, two
        where a region is; a country is never given up."""
        tolerance_km = guess_tolerance_km(self._radius_km)
        if tolerance_km is None:
            return False
        guessing = sum(ballot.off_centre_km <= tolerance_km for ballot in final)
        return guessing >= (_TOWN_GUESSES if self._radius_km <= TOWN_KM else _REGION_GUESSES)

    def _off_centre_km(self, trajectory: Trajectory, best: Hypothesis) -> float:
        """How far from the centre of a town a rollout ended that rests on no tool; infinite for the others."""
        if self._guesses is None or trajectory.stop_reason is None:
            return math.inf
        if trajectory.rollout_id not in self._off_centre_by_rollout:
            rests = self._witnesses.witnesses_of(trajectory)
            self._off_centre_by_rollout[trajectory.rollout_id] = math.inf if rests else self._guesses(best)
        return self._off_centre_by_rollout[trajectory.rollout_id]

    def _best_agreement(self, final: Sequence[Ballot]) -> float:
        return self._largest_agreement(*_shares_and_distances(final))

    def _largest_agreement(self, share: Row, km: Sequence[Row]) -> float:
        """Witnesses near to the ballot that most are near to."""
        return max(sum(s for s, away in _pairs(share, row) if away <= self._reach_km) for row in km)

    def _find_clusters(self, ballots: Sequence[Ballot], share: Row, km: Sequence[Row]) -> Iterator[ClusterInfo]:
        """The first of them, fullest first; the centre is the vote that most others are near to."""
        reach, total = self._reach_km, sum(share)

        def order(i: int) -> tuple[float, float, int]:
            held = sum(share[j] for j in remaining if km[i][j] <= reach)
            return -round(held, 9), sum(min(km[i][j], reach) for j in remaining), i

        remaining = list(range(len(ballots)))
        for _ in range(_MAX_CLUSTERS):
            if not remaining:
                return
            centre = min(remaining, key=order)
            members = [j for j in remaining if km[centre][j] <= reach]
            held = sum(share[j] for j in members)
            yield ClusterInfo(
                centre=ballots[centre].point,
                rollouts=tuple(ballots[j].rollout_id for j in members),
                witnesses=round(held, 4),
                support=round(held / total, 4),
            )
            remaining = [j for j in remaining if km[centre][j] > reach]


def more_than_half(agreeing: float, dissenting: float) -> float:
    """P(p > 1/2) for p ~ Beta(1 + agreeing, 1 + dissenting); both counts may be fractions."""
    if dissenting == 0:
        return 1.0 - math.exp2(-agreeing - 1.0)
    above = below = 0.0
    for node, weight in _QUADRATURE:
        upper, lower = 0.75 + 0.25 * node, 0.25 + 0.25 * node
        above += weight * upper**agreeing * (1.0 - upper) ** dissenting
        below += weight * lower**agreeing * (1.0 - lower) ** dissenting
    return above / (above + below)


def _shares_and_distances(ballots: Sequence[Ballot]) -> tuple[Row, Sequence[Row]]:
    """(n,) shares and the (n, n) distances in km, as lists: for a handful of votes arrays cost more than they save."""
    return [ballot.share for ballot in ballots], distance_rows_km([ballot.point for ballot in ballots])


def _pairs(share: Row, row: Row) -> Iterator[tuple[float, float]]:
    return zip(share, row, strict=True)
