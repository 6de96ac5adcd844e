"""Cases: photos, answers, statements and notes that belong to one question, under one address."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.domain.claim import ClaimVerdict
from tts.domain.value import Value

MOST_RUNS = 200
RequestName = Annotated[str, Field(pattern=r"^loc_[0-9a-f]{20}$")]
Tag = Annotated[str, Field(min_length=1, max_length=40)]


class CaseClaim(Value):
    """A statement that somebody works on, and what they think of it by now."""

    text: Annotated[str, Field(min_length=1, max_length=2000)]
    standing: Literal["open", "holds", "fails"] = "open"


class CaseDraft(Value):
    """What a person writes about a case."""

    title: Annotated[str, Field(max_length=200)] = ""
    notes: Annotated[str, Field(max_length=50_000)] = ""
    tags: Annotated[tuple[Tag, ...], Field(max_length=20)] = ()
    claims: Annotated[tuple[CaseClaim, ...], Field(max_length=100)] = ()


class CaseChange(CaseDraft):
    """A draft that replaces the one of `version`."""

    version: Annotated[int, Field(ge=1)]


class AddedRun(Value):
    """A request that the case shall keep. `title` is what a person calls it."""

    request_id: RequestName
    title: Annotated[str, Field(max_length=200)] = ""


class CaseOutcome(Value):
    """What came of a request. `erased`: it was erased by itself, and only this line is left."""

    status: Literal["done", "abstained", "failed", "cancelled", "erased"]
    place: str = ""
    lat: float | None = None
    lon: float | None = None
    confidence: float | None = None
    verdict: ClaimVerdict | None = Field(default=None, description="of a check: what became of the claim")


class CaseRun(AddedRun):
    """`photos` are names of files; `outcome` is null while it runs. Everything else is under `/locate/{request_id}`."""

    photos: tuple[str, ...] = ()
    outcome: CaseOutcome | None = None


class Case(CaseDraft):
    """`version` rises with every change; `kept_until` moves with it (RFC 3339, UTC)."""

    case_id: str
    version: int
    created_at: str
    changed_at: str
    kept_until: str
    runs: tuple[CaseRun, ...] = ()


class CaseSummary(Value):
    """A case in a list: the first five `places` that were found, `entries`, the titles of its first requests, and
    `first`, its first three requests with what came of them."""

    case_id: str
    title: str
    tags: tuple[str, ...]
    changed_at: str
    runs: int
    running: int
    places: tuple[str, ...]
    entries: tuple[str, ...] = ()
    first: tuple[CaseRun, ...] = ()


class CaseList(Value):
    """The newest change first."""

    cases: tuple[CaseSummary, ...]


class ErasedCase(Value):
    """What was erased: the case, and so many requests with their photos."""

    case_id: str
    requests: int
