"""Cases: photos, answers, statements and notes that belong to one question, under one address."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.domain.claim import ClaimVerdict
from tts.domain.request import REQUEST_ID
from tts.domain.value import Value

MOST_RUNS = 200
RequestName = Annotated[str, Field(pattern=f"^{REQUEST_ID}$")]
Tag = Annotated[str, Field(min_length=1, max_length=40)]


class CaseClaim(Value):
    """A statement that the people of a case examine, and their present judgement of it."""

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
    """The result of a request. `erased`: the request was erased alone, and only this entry is left."""

    status: Literal["done", "abstained", "failed", "cancelled", "erased"]
    place: str = ""
    lat: float | None = None
    lon: float | None = None
    confidence: float | None = None
    verdict: ClaimVerdict | None = Field(default=None, description="for a check: the verdict on the claim")


class CaseRun(AddedRun):
    """A request of a case. `photos` are file names; `outcome` is null while it runs. The rest is at
    `/locate/{request_id}`.
    """

    photos: tuple[str, ...] = ()
    outcome: CaseOutcome | None = None


class Case(CaseDraft):
    """A case. Every change raises `version` and moves `kept_until` (RFC 3339, UTC)."""

    case_id: str
    version: int
    created_at: str
    changed_at: str
    kept_until: str
    runs: tuple[CaseRun, ...] = ()


class CaseSummary(Value):
    """A case in a list. `places` are the first five places that were found, `entries` the titles of its first requests,
    `first` the first three requests with their results.
    """

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
    """Cases, the one with the latest change first."""

    cases: tuple[CaseSummary, ...]


class ErasedCase(Value):
    """What was erased: the case, and the number of its requests, which were erased with their photos."""

    case_id: str
    requests: int
