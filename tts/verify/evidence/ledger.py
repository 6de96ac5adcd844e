"""The evidence ledger of one rollout: its claims, and the finding for each.

Built by `tts.verify.evidence.ledger_builder`; weighed by `tts.verify.consensus.votes`; shown in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.value import Value

POOLED = -1  # the rollout id of what all rollouts read, weighed together (`tts.verify.consensus.pooled_lines`)


class Finding(StrEnum):
    """What became of a claim. Not done: the rollout says it looked at something, and no call of it did. Undecided: the
    verifier made the same call about several places, and the results do not distinguish them."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_DONE = "not_done"
    UNDECIDED = "undecided"


About = Literal[
    "point",
    "name",
    "cited",
    "looked",
    "country",
    "sea",
    "phone",
    "postcode",
    "script",
    "domain",
    "language",
    "order",
    "detail",
    "asked",
    "hint",
]


class LedgerEntry(Value):
    """One claim and what became of it.

    `against`: it is true, and speaks against the point of its rollout.
    `of_own_point`: it rests on what a tool says about a point that the rollout itself put in.
    """

    about: About
    claim: str
    finding: Finding
    call_id: str | None = None
    tool: str = ""
    quote: str = ""
    url: str | None = None
    retrieved_at: str = ""
    against: bool = False
    of_own_point: bool = False

    @property
    def supports(self) -> bool:
        """Whether it is for the point, shown or not."""
        return self.finding in (Finding.SUPPORTED, Finding.UNSUPPORTED) and not self.against


class RolloutLedger(Value):
    """All claims of one rollout. `grounding` in [0, 1] is how firmly its point rests on something outside itself.
    `draws` are the points of its answer drawn again, None for one that names no point.
    `is_unchosen`: the point is one that the rollout saw and does not answer (`tts.verify.inquiry`).
    """

    rollout_id: int
    hypothesis: Hypothesis
    entries: tuple[LedgerEntry, ...]
    grounding: float
    witnesses: frozenset[str] = frozenset()
    draws: tuple[LatLon | None, ...] = ()
    is_unchosen: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether its rollout answers this point: it is neither pooled nor unchosen."""
        return not self.is_pooled and not self.is_unchosen

    @property
    def is_pooled(self) -> bool:
        """Whether it is the ledger of what all rollouts read together, not of one rollout."""
        return self.rollout_id == POOLED

    def with_entries(self, more: Iterable[LedgerEntry]) -> RolloutLedger:
        """This ledger with further entries after its own."""
        return self.model_copy(update={"entries": (*self.entries, *more)})

    def count(self, finding: Finding, *about: About) -> int:
        """How many entries have this finding; only those about the named subjects, where some are named."""
        return sum(entry.finding is finding and (not about or entry.about in about) for entry in self.entries)
