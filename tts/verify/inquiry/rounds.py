"""The gains of candidates from rounds of questions, as log-likelihood ratios in nats.

In a round the same question is asked of each candidate. A tool finds a line where the photo was taken with probability
`found_there`, and anywhere else with `found_elsewhere`. The gain of a candidate is the log-likelihood
of its own outcome minus the mean of the round. The gains of a round add up to 0, and a round with equal outcomes
changes nothing, so a candidate never gains by being asked about. It never gains by not being asked about either: a
round asks about each answer that is compared, and a place without a vote that is left out gets the lowest gain of the
round. A round with a call that failed or returned nothing is void for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tts.decision_weights import weights
from tts.verify.inquiry.question import Question

_W = weights("inquiry")
_FOUND = math.log(_W["found_there"] / _W["found_elsewhere"])
_MISSED = math.log((1.0 - _W["found_there"]) / (1.0 - _W["found_elsewhere"]))
ADMITS = _W["admits"]
PASSED_BY = _W["passed_by"]


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

    def gains(self, counted: frozenset[int]) -> dict[int, float]:
        """What each candidate gains; only those that count, of which there have to be two."""
        asked = {i: one for i, one in self.outcomes.items() if i in counted}
        if self.is_void or len(asked) < 2:
            return {}
        nats = {i: _FOUND if one.found else _MISSED for i, one in asked.items()}
        mean = sum(nats.values()) / len(nats)
        return {i: one - mean for i, one in nats.items()}


def gains_of(rounds: Sequence[Round], counted: Sequence[frozenset[int]], every: Sequence[int] = ()) -> dict[int, float]:
    """What all rounds say together; `counted` has for each round the candidates that count in it.

    The candidates of `every` that do not count in a round get the lowest gain of it.
    """
    total: dict[int, float] = {}
    for one, candidates in zip(rounds, counted, strict=True):
        gains = one.gains(candidates)
        for i in {*gains, *every} if gains else ():
            total[i] = total.get(i, 0.0) + gains.get(i, min(gains.values()))
    return total
