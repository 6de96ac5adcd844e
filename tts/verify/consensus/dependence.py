"""Estimates ρ, the dependence of the rollouts of one request, from the statements on which they rest.

ρ is the probability that two rollouts share their draw. Independent rollouts that reach one town rest on different
statements; copies rest on the same one. Only rollouts that rest on something can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tts.verify.evidence.ledger import RolloutLedger


def dependence_of(ledgers: Sequence[RolloutLedger]) -> float | None:
    """Share of pairs that rest on the same statements, partly common ones in part; None when no two can be compared."""
    resting = [ledger.witnesses for ledger in ledgers if ledger.witnesses]
    pairs = [len(a & b) / min(len(a), len(b)) for a, b in combinations(resting, 2)]
    return sum(pairs) / len(pairs) if pairs else None
