"""How rounds of questions change the weights of candidates, as log-likelihood ratios in nats.

In a round the same question is asked of each candidate. A tool finds a line where the photo was taken with probability
`found_there`, and anywhere else with `found_elsewhere`. The weight of a candidate changes by the
log-likelihood of its own outcome minus the mean of the round. The changes of a round add up to 0, and a round with
equal outcomes changes nothing, so a candidate never gains by being asked about. It never gains by not being asked about
either: a round asks about each answer that is compared, and a place without a vote that is left out gets the lowest
change of the round. A round with a call that failed or returned nothing is void for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tts.decision_weights import weights
from tts.verify.inquiry.question import Question

_W = weights("inquiry")
_FOUND_NATS = math.log(_W["found_there"] / _W["found_elsewhere"])
_MISSED_NATS = math.log((1.0 - _W["found_there"]) / (1.0 - _W["found_elsewhere"]))
ADMITS = _W["admits"]
UNCHOSEN = _W["unchosen"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One candidate in one round. `found` is None when its call failed or returned nothing."""

    found: bool | None
    call_id: str
    url: str | None = None
    retrieved_at: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One question, with the outcome for each candidate by its number."""

    question: Question
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)

    @property
    def is_void(self) -> bool:
        """Whether it says nothing: a call failed or returned nothing, or fewer than two candidates were asked about."""
        return len(self.outcomes) < 2 or any(one.found is None for one in self.outcomes.values())

    def weight_changes(self, counted: frozenset[int]) -> dict[int, float]:
        """The change of each log weight, in nats; only of candidates that count, of which there have to be two."""
        asked = {i: one for i, one in self.outcomes.items() if i in counted}
        if self.is_void or len(asked) < 2:
            return {}
        nats = {i: _FOUND_NATS if one.found else _MISSED_NATS for i, one in asked.items()}
        mean = sum(nats.values()) / len(nats)
        return {i: one - mean for i, one in nats.items()}


def weight_changes_of(
    rounds: Sequence[Round], counted: Sequence[frozenset[int]], every: Sequence[int] = ()
) -> dict[int, float]:
    """What all rounds say together; `counted` has for each round the candidates that count in it.

    The candidates of `every` that do not count in a round get the lowest change of it.
    """
    total: dict[int, float] = {}
    for one, candidates in zip(rounds, counted, strict=True):
        weight_changes = one.weight_changes(candidates)
        for i in {*weight_changes, *every} if weight_changes else ():
            total[i] = total.get(i, 0.0) + weight_changes.get(i, min(weight_changes.values()))
    return total
