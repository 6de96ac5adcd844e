"""What `check_claim` and `compare_places` return: the verdict on each claimed place, and the evidence both ways."""

from __future__ import annotations

from pydantic import Field

from deployments.mcp.located_place import report_uri
from geotts_client.budget import BudgetUse
from tts.domain.answer import Answer
from tts.domain.claim import CheckedPlace, ClaimCheck
from tts.domain.value import Value

_MAX_EVIDENCE = 8


class CheckedClaim(Value):
    """The claim is never evidence for itself: agents that do not know it look at the photo first."""

    request_id: str
    verdict: str = Field(description="supported, contradicted or not_decidable")
    kind: str | None = Field(description="why it is not decidable: indeterminate, inconclusive or not_feasible")
    text: str = Field(description="the verdict in a few sentences")
    odds: float | None = Field(description="of the claim against all other places; null without a calibration")
    places: tuple[CheckedPlace, ...] = Field(description="each claimed place with its own verdict")
    likeliest: int | None = Field(description="which of several places is likeliest, counted from 0")
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()
    budget: BudgetUse | None = Field(default=None, description="of a request with a budget: what was used of it")
    report: str = Field(description="resource: the whole report with its evidence")


def checked_claim(request_id: str, answer: Answer, check: ClaimCheck) -> CheckedClaim:
    """The fields that the `check` of an answer fills."""
    return CheckedClaim(
        request_id=request_id,
        **{name: getattr(check, name) for name in ("verdict", "kind", "text", "odds", "places", "likeliest")},
        budget=answer.budget,
        evidence_for=tuple(one.claim for one in check.evidence_for[:_MAX_EVIDENCE]),
        evidence_against=tuple(one.claim for one in check.evidence_against[:_MAX_EVIDENCE]),
        report=report_uri(request_id),
    )
