"""When agreeing rollouts may stop the others: a small language that travels as one string.

    none             nobody is stopped
    quorum           half of the rollouts, and never fewer than two, agree
    quorum:3         three independent witnesses agree
    first:2          two rollouts have ended, whatever they say
    beta:0.9         the posterior probability that most further rollouts would agree reaches 0.9
    worth:0.85       the same, where an answer that is a little too far counts in part; or agreement cannot be hoped for
    loss:1.0         stopping loses at most 1.0 percentage points of accuracy at the wanted radius, on average over the
                     requests of a service

A configuration may also name a policy of another package (entry point `geotts.stop_policies`), which sees a `StopView`.

Agreement is always meant at the radius the caller wants, so agreeing on a country never stops a search for a street.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from geotts_client.options import STOP_PATTERN as STOP_PATTERN
from tts.decision_weights import weights
from tts.domain.geo import LatLon
from tts.domain.value import Value
from tts.extensions import Registry

_W = weights("watch")
_PROBABILITY = _W["stop_probability"]
_LOSS_POINTS = _W["stop_loss_points"]


class StopKind(StrEnum):
    """Which rule a policy follows; the module says what each does."""

    NONE = "none"
    QUORUM = "quorum"
    FIRST = "first"
    BETA = "beta"
    WORTH = "worth"
    LOSS = "loss"
    INSTALLED = "installed"


@dataclass(frozen=True, slots=True)
class Ballot:
    """One located belief: whose, where, whether it counts as a vote, its share of a witness, and, when nothing supports
    it, how far from the centre of the town it names."""

    rollout_id: int
    point: LatLon
    final: bool
    share: float
    off_centre_km: float = math.inf


@dataclass(frozen=True, slots=True)
class StopView:
    """What a policy of another package decides by: `votes` are the ballots of rollouts that ended, `n` the rollouts of
    the request, `finished` those that ended, with a place or without; `radius_km` is what the caller wants."""

    votes: Sequence[Ballot]
    finished: int
    n: int
    radius_km: float


STOP_POLICIES: Registry[Callable[[StopView], bool]] = Registry("geotts.stop_policies")


class StopPolicy(Value):
    """A parsed policy. `count` is k or m (None: half of the rollouts), `probability` belongs to `beta` and `worth`,
    `loss_points` is the percentage of all answers that `loss` may lose at the wanted radius, `installed` the name of a
    policy of another package."""

    kind: StopKind = StopKind.NONE
    count: Annotated[int, Field(ge=1, le=32)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] = _PROBABILITY
    loss_points: Annotated[float, Field(ge=0, lt=100)] = _LOSS_POINTS
    installed: str = ""

    @classmethod
    def parse(cls, text: str) -> StopPolicy:
        """Raises ValueError for a text that is not in the language."""
        if text in STOP_POLICIES:
            return cls(kind=StopKind.INSTALLED, installed=text)
        if re.fullmatch(STOP_PATTERN, text) is None:
            there = ", ".join(("none", "quorum", "quorum:k", "first:m", "beta:p", "worth:p", "loss:l", *STOP_POLICIES))
            raise ValueError(f"{text!r} is not a stop policy; there are: {there}")
        kind, _, rest = text.partition(":")
        if kind in (StopKind.BETA, StopKind.WORTH):
            return cls(kind=StopKind(kind), probability=float(rest or _PROBABILITY))
        if kind == StopKind.LOSS:
            return cls(kind=StopKind.LOSS, loss_points=float(rest or _LOSS_POINTS))
        return cls(kind=StopKind(kind), count=int(rest) if rest else None)

    def quorum_of(self, n: int) -> int:
        """How many must agree out of `n`: at least two, unless the policy names one."""
        return self.count if self.count is not None else max(2, (n + 1) // 2)
