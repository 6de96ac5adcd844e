"""The consensus watch: how far the rollouts agree at the radius the caller wants, and whether that is enough to stop.

Hypotheses stream in; those of rollouts that ended are votes, those of running ones are only shown. Votes are clustered
on the ellipsoid at the wanted radius, never wider than a region: agreeing on a country does not stop a search for a
street. Votes that rest on the same tool statements are one witness. Pure arithmetic over a handful of points, because
it runs in the gateway at every step of every request; what the evidence is worth is for the verifier to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.domain.answer import StopReason
from tts.domain.events import ClusterInfo, Consensus
from tts.domain.geo import Floats, LatLon, distance_matrix_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.stopping import StopKind, StopPolicy
from tts.domain.trajectory import Trajectory
from tts.ensemble.witnesses import Witnesses
from tts.ports import TownGuess

REGION_KM = 400.0  # farther apart than this are two regions, whatever radius was wanted
TOWN_KM = 50.0  # a wanted radius up to this asks for the town
_TOWN_CENTRE_KM, _REGION_CENTRE_KM = 0.37, 0.8  # a point this near to the centre of the town it names is a guess
_SLACK = 1e-9
_UNTRUSTED = (StopReason.FAILED, StopReason.CANCELLED)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ballot:
    """One located belief: whose, where, whether its rollout ended, its share of a witness, and, when
    nothing supports it, how far from the centre of the town it names."""

    rollout_id: int
    point: LatLon
    final: bool
    share: float
    off_centre_km: float = math.inf


class ConsensusWatch:
    """Looks at the trajectories of one request. Without `guesses` it never finds a search futile."""

    def __init__(self, policy: StopPolicy, radius_km: float, guesses: TownGuess | None = None) -> None:
        self._policy = policy
        self._radius_km = radius_km
        self._reach_km = min(radius_km, REGION_KM)
        self._witnesses = Witnesses()
        self._guesses = guesses

    @property
    def active(self) -> bool:
        return self._policy.kind is not StopKind.NONE

    def look(self, trajectories: Sequence[Trajectory], n: int) -> Consensus:
        """The state of agreement among `n` rollouts; `decided`: the policy would stop those that still run."""
        finished = [t for t in trajectories if t.stop_reason is not None]
        ballots = self._ballots(trajectories)
        share, km = _columns(ballots)
        clusters = self._clusters(ballots, share, km)
        ended = [i for i, ballot in enumerate(ballots) if ballot.final]
        outstanding = n - len(finished)
        return Consensus(
            radius_km=self._radius_km,
            clusters=tuple(clusters[:_SHOWN]),
            finished=len(finished),
            outstanding=outstanding,
            decided=self._decided(
                [ballots[i] for i in ended], share[ended], km[np.ix_(ended, ended)], len(finished), n
            ),
        )

    def forget(self) -> None:
        """Start with other trajectories: what rollouts rest on is remembered by their numbers."""
        self._witnesses = Witnesses()

    def agreement(self, trajectories: Sequence[Trajectory]) -> tuple[float, float]:
        """Witnesses that ended at the place most of them name, and all witnesses that ended with a place."""
        final = [ballot for ballot in self._ballots(trajectories) if ballot.final]
        return (self._best(final), sum(ballot.share for ballot in final)) if final else (0.0, 0.0)

    def _ballots(self, trajectories: Sequence[Trajectory]) -> list[Ballot]:
        stated = [
            (trajectory, best, best.point)
            for trajectory in trajectories
            if (best := trajectory.best) is not None
            and best.point is not None
            and trajectory.stop_reason not in _UNTRUSTED
        ]
        shares = self._witnesses.shares([trajectory for trajectory, _, _ in stated])
        ballots = []
        for (trajectory, best, point), share in zip(stated, shares, strict=True):
            final = trajectory.stop_reason is not None
            ballots.append(Ballot(trajectory.rollout_id, point, final, share, self._off_centre_km(trajectory, best)))
        return ballots

    def _decided(self, final: Sequence[Ballot], share: Floats, km: Floats, finished: int, n: int) -> bool:
        """`share` (m,) and `km` (m, m) are those of the final ballots."""
        kind = self._policy.kind
        if kind is StopKind.FIRST:
            return finished >= self._policy.quorum_of(n)
        if len(final) < 2 or kind is StopKind.NONE:
            return False
        agrees = (km <= self._reach_km).astype(np.float64)
        fullest = float((agrees @ share).max())
        if kind is StopKind.QUORUM:
            return fullest >= self._policy.quorum_of(n) - _SLACK
        if kind is StopKind.WORTH:
            if fullest < 2.0 - _SLACK and self._futile(final):
                return True
            agrees = np.clip(2.0 - km / self._reach_km, 0.0, 1.0)
        total = float(share.sum())
        if total < 2.0 - _SLACK:
            return False
        most = float((agrees @ share).max())
        return more_than_half(most, total - most) >= self._policy.probability - _SLACK

    def _futile(self, final: Sequence[Ballot]) -> bool:
        """No two agree, and those who only guess show that the photo does not tell: one where a town is wanted, two
        where a region is; a country is never given up."""
        if self._radius_km >= REGION_KM:
            return False
        town_wanted = self._radius_km <= TOWN_KM
        tolerance_km = _TOWN_CENTRE_KM if town_wanted else _REGION_CENTRE_KM
        return sum(ballot.off_centre_km <= tolerance_km for ballot in final) >= (1 if town_wanted else 2)

    def _off_centre_km(self, trajectory: Trajectory, best: Hypothesis) -> float:
        if self._guesses is None or trajectory.stop_reason is None or self._witnesses.of(trajectory):
            return math.inf
        return self._guesses(best)

    def _best(self, final: Sequence[Ballot]) -> float:
        share, km = _columns(final)
        return float(((km <= self._reach_km) @ share).max())

    def _clusters(self, ballots: Sequence[Ballot], share: Floats, km: Floats) -> list[ClusterInfo]:
        """Fullest first; the centre is the vote that most others are near to."""
        if not ballots:
            return []
        near = km <= self._reach_km
        total, left, found = float(share.sum()), np.ones(len(ballots), dtype=bool), []
        while left.any():
            held = np.where(left, (near & left) @ share, -1.0)
            tightness = (np.minimum(km, self._reach_km) * left).sum(axis=1)
            centre = min(range(len(ballots)), key=lambda i: (-round(float(held[i]), 9), float(tightness[i]), i))
            members = np.flatnonzero(near[centre] & left)
            found.append(
                ClusterInfo(
                    centre=ballots[centre].point,
                    rollouts=tuple(ballots[int(i)].rollout_id for i in members),
                    witnesses=round(float(share[members].sum()), 4),
                    support=round(float(share[members].sum()) / total, 4),
                )
            )
            left[members] = False
        return found


def more_than_half(agreeing: float, dissenting: float) -> float:
    """P(p > 1/2) for p ~ Beta(1 + agreeing, 1 + dissenting); both counts may be fractions."""
    upper, lower = 0.75 + 0.25 * _NODES, 0.25 + 0.25 * _NODES
    above = float((_WEIGHTS * upper**agreeing * (1.0 - upper) ** dissenting).sum())
    below = float((_WEIGHTS * lower**agreeing * (1.0 - lower) ** dissenting).sum())
    return above / (above + below)


def _columns(ballots: Sequence[Ballot]) -> tuple[Floats, Floats]:
    """(n,) shares and the (n, n) distances in km."""
    return np.array([ballot.share for ballot in ballots]), distance_matrix_km([ballot.point for ballot in ballots])
