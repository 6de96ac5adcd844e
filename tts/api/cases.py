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

    text: Annotated[str, Field(min_length=1, max_length=2000)] = Field(description="what somebody claims")
    standing: Literal["open", "holds", "fails"] = Field(
        default="open", description="the present judgement: `open` (undecided), `holds` or `fails`"
    )


class CaseDraft(Value):
    """What a person writes about a case."""

    title: Annotated[str, Field(max_length=200)] = Field(default="", description="name of the case, for people")
    notes: Annotated[str, Field(max_length=50_000)] = Field(default="", description="notes, as plain text")
    tags: Annotated[tuple[Tag, ...], Field(max_length=20)] = Field(
        default=(), description="words by which the case can be found"
    )
    claims: Annotated[tuple[CaseClaim, ...], Field(max_length=100)] = Field(
        default=(), description="statements that are examined"
    )


class CaseChange(CaseDraft):
    """A draft that replaces the one of `version`."""

    version: Annotated[int, Field(ge=1)] = Field(
        description="the version that was read; if it is no longer the current one, the change is refused (409)"
    )


class AddedRun(Value):
    """A request that the case shall keep."""

    request_id: RequestName = Field(description="id of the request")
    title: Annotated[str, Field(max_length=200)] = Field(
        default="", description="what a person calls the request, such as the name of a photo"
    )


class CaseOutcome(Value):
    """The result of a request. If the request was erased alone, only this entry is left."""

    status: Literal["done", "abstained", "failed", "cancelled", "erased"] = Field(
        description="how it ended: with a point (`done`), with an abstention, with a problem (`failed`), or "
        "cancelled; or that the request was erased",
    )
    place: str = Field(default="", description="names of the place, the finest first; empty if none is known")
    lat: float | None = Field(default=None, description="degrees north, WGS-84; null without a point")
    lon: float | None = Field(default=None, description="degrees east, WGS-84; null without a point")
    confidence: float | None = Field(
        default=None,
        description="probability that the true place lies within `target_radius_km` of the point; null if there is no "
        "answer",
    )
    verdict: ClaimVerdict | None = Field(default=None, description="for a check: the verdict on the claim")


class CaseRun(AddedRun):
    """A request of a case. The rest is at `/locate/{request_id}`."""

    photos: tuple[str, ...] = Field(
        default=(),
        description="names of its photos under `/locate/{request_id}/files/`: the SHA-256 of their clean copies",
    )
    outcome: CaseOutcome | None = Field(default=None, description="how the request ended; null while it runs")


class Case(CaseDraft):
    """A case. Every change raises `version` and moves `kept_until`."""

    case_id: str = Field(description="id of the case: `case_` and 20 hexadecimal digits")
    version: int = Field(description="number of the version, from 1; every change raises it")
    created_at: str = Field(description="when it was created (RFC 3339, UTC)")
    changed_at: str = Field(description="when it was last changed (RFC 3339, UTC)")
    kept_until: str = Field(description="when it is erased, unless it is changed before (RFC 3339, UTC)")
    runs: tuple[CaseRun, ...] = Field(default=(), description="its requests, in the order in which they were added")


class CaseSummary(Value):
    """A case in a list."""

    case_id: str = Field(description="id of the case")
    title: str = Field(description="name of the case, for people")
    tags: tuple[str, ...] = Field(description="words by which the case can be found")
    changed_at: str = Field(description="when it was last changed (RFC 3339, UTC)")
    runs: int = Field(description="number of its requests")
    running: int = Field(description="number of its requests without a known result")
    places: tuple[str, ...] = Field(description="at most five places that its requests found")
    entries: tuple[str, ...] = Field(default=(), description="titles of at most five of its requests")
    first: tuple[CaseRun, ...] = Field(default=(), description="its first three requests")


class CaseList(Value):
    """A list of cases."""

    cases: tuple[CaseSummary, ...] = Field(description="cases of the caller, the one with the latest change first")


class ErasedCase(Value):
    """What was erased: the case, and the number of its requests, which were erased with their photos."""

    case_id: str = Field(description="id of the case")
    requests: int = Field(description="number of requests that were erased with it")
