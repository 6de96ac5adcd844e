"""Counts the votes of a request: which places lead, with how many witnesses, and how many witnesses disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tts.domain.stop_policy import Ballot
from tts.domain.stop_table import MOST_AGAINST, MOST_VOTES, Cell

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class VoteCount:
    """`leaders` are the rollouts of each leading place (several in a tie); `votes` is the number of witnesses of
    each."""

    cell: Cell
    leaders: tuple[frozenset[int], ...]
    votes: int

    def probability_of_change(self, last: VoteCount) -> float:
        """The probability that the leading place of `last` is another one; ties are drawn at random."""
        if not last.leaders:
            return 0.0
        if not self.leaders:
            return 1.0
        kept = sum(bool(now & then) for now in self.leaders for then in last.leaders)
        return 1.0 - kept / (len(self.leaders) * len(last.leaders))


def count_votes(
    final: Sequence[Ballot],
    share: Sequence[float],
    km: Sequence[Sequence[float]],
    *,
    reach_km: float,
    pointless: int,
    tolerance_km: float | None,
) -> VoteCount:
    """The count of the final ballots with their shares (m,) and distances (m, m).

    `pointless` rollouts ended without a place. Somebody guesses whose point is within `tolerance_km` of the centre of
    its town; None where guesses tell nothing.
    """
    if not final:
        return VoteCount(Cell(0, min(pointless, MOST_AGAINST), False), (), 0)
    held = [sum(s for s, away in zip(share, row, strict=True) if away <= reach_km) for row in km]
    most = max(held)
    leaders = tuple(
        frozenset(final[j].rollout_id for j, away in enumerate(row) if away <= reach_km)
        for row, votes in zip(km, held, strict=True)
        if votes >= most - _TOLERANCE
    )
    votes = max(1, int(most + _TOLERANCE))
    against = round(sum(share) - most) + pointless
    guess = votes == 1 and tolerance_km is not None and any(ballot.off_centre_km <= tolerance_km for ballot in final)
    return VoteCount(Cell(min(votes, MOST_VOTES), min(against, MOST_AGAINST), guess), leaders, votes)
