"""The result of checking a claim about the place of a photo: verdict, odds, and the evidence for and against it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from geotts_client.claimed_place import ClaimedPlace
from geotts_client.evidence import Candidate, Evidence, Share
from geotts_client.value import Value

ClaimVerdict = Literal["supported", "contradicted", "not_decidable"]
Undecided = Literal["indeterminate", "inconclusive", "not_feasible"]


class CheckedPlace(ClaimedPlace):
    """One claimed place with what was found about it. Odds, mass and share are null without a calibration."""

    verdict: ClaimVerdict = Field(description="the verdict on this place alone; `not_decidable` without a calibration")
    odds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="odds of the place against all other places: 4 means four to one"
    )
    mass: Share | None = Field(default=None, description="probability that the photo was taken in the claimed area")
    share: Share | None = Field(
        default=None,
        description="if several places are compared: its probability, given that one of them is right",
    )


class RolloutAgreement(Value):
    """How far the rollouts of one kind, blind or testing, agree with the claim."""

    rollouts: tuple[int, ...] = Field(default=(), description="ids of these rollouts")
    answered: int = Field(default=0, description="number of these rollouts that gave a point")
    inside: int = Field(default=0, description="number of these points that lie in a claimed place")


class ClaimCheck(Value):
    """The result of `POST /check`. The claim itself is never evidence: `mass` rests on what the photo shows and on the
    rollouts that did not get the claim (`blind`).
    """

    verdict: ClaimVerdict = Field(
        description="of one place, its verdict. Of several places: `supported` if one of them is, `contradicted` if "
        "all of them are",
    )
    kind: Undecided | None = Field(
        default=None,
        description="why it is not decidable: `indeterminate`, evidence points both ways; `inconclusive`, too little "
        "evidence; `not_feasible`, nothing in the photo says where it was taken",
    )
    text: str = Field(description="the verdict in a few sentences for a person")
    odds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="odds of the claim, or of the likeliest of several places; null without a calibration"
    )
    mass: Share | None = Field(
        default=None,
        description="probability that the photo was taken in any claimed place; null without a calibration",
    )
    places: tuple[CheckedPlace, ...] = Field(
        description="each claimed place and what was found about it, in the order of the request"
    )
    likeliest: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="which of several compared places is likeliest, counted from 0"
    )
    alternative: Candidate | None = Field(default=None, description="the best place outside all claimed places")
    evidence_for: tuple[Evidence, ...] = Field(
        default=(), description="facts that support the claimed place, and not the best other place"
    )
    evidence_against: tuple[Evidence, ...] = Field(
        default=(),
        description="facts that contradict the claimed place, or that support the best other place and not the "
        "claimed one",
    )
    blind: RolloutAgreement = Field(
        default=RolloutAgreement(), description="rollouts that did not get the claim; only they vote"
    )
    testing: RolloutAgreement = Field(
        default=RolloutAgreement(),
        description="rollouts that were asked which place the photo shows, a claimed one or the best other place; they "
        "give evidence and have no vote",
    )
    calibrated: bool = Field(
        default=False, description="false: there are no odds, because nothing was fitted to this engine and its tools"
    )
