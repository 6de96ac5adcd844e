"""Estimates ρ, the dependence of the rollouts of one request, from the statements on which they rest.

ρ is the probability that two rollouts of one model share their draw. Independent rollouts that reach one town rest on
different statements; copies rest on the same one. Only rollouts that rest on something can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from tts.domain.trajectory import Trajectory
from tts.verify.evidence.ledger import RolloutLedger

ArePair = Callable[[RolloutLedger, RolloutLedger], bool]


def dependence_of(ledgers: Sequence[RolloutLedger], are_compared: ArePair = lambda one, other: True) -> float | None:
    """Share of pairs that rest on the same statements, partly common ones in part; None when no two can be compared.
    `are_compared` says of two rollouts whether they are one of the pairs."""
    resting = [ledger for ledger in ledgers if ledger.witnesses]
    pairs = [
        len(a.witnesses & b.witnesses) / min(len(a.witnesses), len(b.witnesses))
        for a, b in combinations(resting, 2)
        if are_compared(a, b)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def of_one_model(trajectories: Sequence[Trajectory]) -> ArePair:
    """Says of two of these rollouts whether one model made both."""
    sources = {one.rollout_id: one.source for one in trajectories}
    return lambda a, b: sources[a.rollout_id] == sources[b.rollout_id]
