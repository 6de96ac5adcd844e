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

    verdict: ClaimVerdict
    odds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="odds of the place against all other places: 4 means four to one"
    )
    mass: Share | None = Field(default=None, description="probability that the photo was taken in the claimed area")
    share: Share | None = Field(
        default=None,
        description="if several places are compared: its probability, given that one of them is right",
    )


class RolloutAgreement(Value):
    """The rollouts of one kind, how many of them gave a point, and how many of these points lie in a claimed place."""

    rollouts: tuple[int, ...] = ()
    answered: int = 0
    inside: int = 0


class ClaimCheck(Value):
    """The result of `POST /check`. The claim itself is never evidence: `mass` rests on what the photo shows and on the
    rollouts that did not get the claim (`blind`). The rollouts in `testing` were asked which place the photo shows: one
    of the claimed places, or the best alternative. What they found is evidence only.
    """

    verdict: ClaimVerdict
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
    places: tuple[CheckedPlace, ...]
    likeliest: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="which of several compared places is likeliest, counted from 0"
    )
    alternative: Candidate | None = Field(default=None, description="the best place outside all claimed places")
    evidence_for: tuple[Evidence, ...] = ()
    evidence_against: tuple[Evidence, ...] = ()
    blind: RolloutAgreement = RolloutAgreement()
    testing: RolloutAgreement = RolloutAgreement()
    calibrated: bool = Field(
        default=False, description="false: there are no odds, because nothing was fitted to this engine and its tools"
    )
