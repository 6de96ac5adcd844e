"""When agreeing rollouts may stop the others: a small language that travels as one string.

    none             nobody is stopped
    quorum           half of the rollouts, and never fewer than two, agree
    quorum:3         three independent witnesses agree
    first:2          two rollouts have ended, whatever they say
    beta:0.9         the posterior probability that most further rollouts would agree reaches 0.9
    worth:0.85       the same, where an answer that is a little too far counts in part; or agreement cannot be hoped for

Agreement is always meant at the radius the caller wants, so agreeing on a country never stops a search for a street.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from geotts_client.options import STOP_PATTERN
from tts.domain.value import Value

__all__ = ["STOP_PATTERN", "StopKind", "StopPolicy"]

_PROBABILITY = 0.85


class StopKind(StrEnum):
    """Which rule a policy follows; the module says what each does."""

    NONE = "none"
    QUORUM = "quorum"
    FIRST = "first"
    BETA = "beta"
    WORTH = "worth"


class StopPolicy(Value):
    """A parsed policy. `count` is k or m (None: half of the rollouts), `probability` belongs to `beta` and `worth`."""

    kind: StopKind = StopKind.NONE
    count: Annotated[int, Field(ge=1, le=32)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] = _PROBABILITY

    @classmethod
    def parse(cls, text: str) -> StopPolicy:
        """Raises ValueError for a text that is not in the language."""
        if re.fullmatch(STOP_PATTERN, text) is None:
            raise ValueError(f"{text!r} is not a stop policy: none, quorum, quorum:k, first:m, beta:p or worth:p")
        kind, _, rest = text.partition(":")
        if kind in (StopKind.BETA, StopKind.WORTH):
            return cls(kind=StopKind(kind), probability=float(rest or _PROBABILITY))
        return cls(kind=StopKind(kind), count=int(rest) if rest else None)

    def quorum_of(self, n: int) -> int:
        """How many must agree out of `n`: at least two, unless the policy names one."""
        return self.count if self.count is not None else max(2, (n + 1) // 2)
