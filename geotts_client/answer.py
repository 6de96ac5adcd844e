"""The answer to a request: the place, its radii, the confidence, and the evidence that a person can check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from geotts_client.budget import BudgetUse
from geotts_client.calibration import CalibrationState
from geotts_client.change import Change
from geotts_client.claim_check import ClaimCheck
from geotts_client.evidence import CONTINENT_KM as CONTINENT_KM
from geotts_client.evidence import Candidate as Candidate
from geotts_client.evidence import Evidence as Evidence
from geotts_client.evidence import Radius as Radius
from geotts_client.evidence import Share as Share
from geotts_client.file_check import FileCheck
from geotts_client.file_claim import FileClaim
from geotts_client.hypothesis import Level
from geotts_client.kind_of_n import of_models
from geotts_client.latlon import LatLon
from geotts_client.plan import Locatability, Plan
from geotts_client.region import Region
from geotts_client.source import Source
from geotts_client.usage import ModelUsage, Usage
from geotts_client.value import Value


class StopReason(StrEnum):
    """Why a rollout, or a request, ended. None of these is an error."""

    ANSWERED = "answered"
    BUDGET = "budget"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    QUORUM = "quorum"
    FAILED = "failed"


class Contradiction(Value):
    """A statement of the caller that contradicts the findings. It is shown before the answer."""

    about: Literal["within", "hint", "photos", "not_there"]
    text: str = Field(description="one sentence for a person")


class HintOutcome(Value):
    """The caller's hint, compared with the answer. `place` is the place that it states; empty if none is known.

    `agrees`: the answer lies in that place. `near`: it lies near it, as the hint says. `same_country`: it is another
    place of that country.
    """

    outcome: Literal["agrees", "near", "same_country", "contradicted", "unchecked"]
    place: str = ""
    text: str = Field(description="one sentence for a person")


class PhotoAnswer(Value):
    """Where one of several photos was taken, if they cannot be of one place. `photo` counts from 0."""

    photo: Annotated[int, Field(ge=0)]
    lat: float | None
    lon: float | None
    radius_km: Radius | None
    level: Level
    abstained: bool
    country: str = ""
    country_code: str = ""
    region: str = ""
    city: str = ""
    place: str = ""
    confidence: Share
    explanation: str = ""
    evidence: tuple[Evidence, ...] = ()


class RolloutStatus(Value):
    """How one rollout ended, and what it used."""

    rollout_id: int
    stop_reason: StopReason | None
    answered: bool
    turns: int = 0
    tool_calls: int = 0
    error: str = ""
    source: Source = ""


class Route(Value):
    """How the service rated the photos, what it planned, what it expected this to cost, and what it cost."""

    locatability: Locatability
    plan: Plan
    predicted_cost: dict[str, float] = {}
    real_cost: dict[str, float] = {}


class Timing(Value):
    """Seconds since the request was accepted."""

    total_s: float
    routed_s: float | None = None
    first_hypothesis_s: float | None = None
    rollouts_s: float | None = None
    verified_s: float | None = None


class RunCount(Value):
    """Numbers of rollouts: asked for, planned, started, answered, and answered without a place."""

    asked: int
    planned: int
    run: int
    answered: int
    abstained: int = Field(default=0, description="of `answered`: those that ended with “I do not know”")
    models: int | None = Field(
        default=None,
        description="number of different models of the rollouts that started. 1: they are samples of one policy; "
        "more: they are of a mixture of models; absent: not recorded",
        exclude_if=lambda models: models is None,
    )

    @property
    def text(self) -> str:
        """“4 of 4 rollouts of one model answered”, or “3 of 4 rollouts of 2 models answered, 1 does not know”."""
        whose = "" if self.models is None else of_models(self.run, self.models)
        ended = f"{self.answered - self.abstained} of {self.run} rollouts{whose} answered"
        return (
            f"{ended}, {self.abstained} do{'es' if self.abstained == 1 else ''} not know" if self.abstained else ended
        )


class Provenance(Value):
    """The values that are needed to get this answer again."""

    photo_sha256: tuple[str, ...] = ()
    source_sha256: tuple[str, ...] = ()
    version: str = ""
    engine: str = ""
    model: str = ""
    dialect: str = ""
    prompt_sha256: str = ""
    verifier: str = ""
    providers: tuple[str, ...] = ()
    data_versions: dict[str, str] = {}
    seed: int = 0
    answered_at: str = ""
    request_id: str = ""


class Verdict(Value):
    """What the verifier says: where, how exactly, how sure, and why.

    When nothing supports a point, `abstained` is true, `lat` and `lon` are null, and `level` and the names say how much
    is supported. A place known to country level only carries a representative point and an honest radius.
    """

    lat: float | None = Field(description="degrees north, WGS-84; null if the answer is an abstention")
    lon: float | None = Field(description="degrees east, WGS-84; null if the answer is an abstention")
    radius_km: Radius | None = Field(description="null if the answer is an abstention")
    level: Level
    abstained: bool = Field(
        description="true: what was found does not support a point; country and region may still be known"
    )
    country: str = ""
    country_code: str = ""
    region: str = ""
    city: str = ""
    place: str = ""
    town_centre: bool = Field(
        default=False, description="true: the point stands for the named town as a whole, not for a spot in it"
    )
    confidence: Share = Field(description="probability that the true place lies within `target_radius_km` of the point")
    target_radius_km: float
    explanation: str = ""
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = Field(
        default=(), description="statements of the caller that the photo contradicts; shown before the answer"
    )
    hint: HintOutcome | None = Field(
        default=None, description="the hint, compared with the answer; null without a hint"
    )
    per_photo: tuple[PhotoAnswer, ...] = Field(
        default=(), description="one answer for each photo, if the photos cannot show one place"
    )
    calibration: CalibrationState | None = Field(
        default=None, description="the calibration of radius and confidence; null if it is not known"
    )
    check: ClaimCheck | None = Field(
        default=None, description="the result of the check; null if the request has no claim to check"
    )
    region_50: Region | None = Field(
        default=None,
        description="contains the true place in 50 % of answers; null: the answer has no region, so use the circle",
    )
    region_90: Region | None = Field(
        default=None,
        description="contains the true place in 90 % of answers; it contains region_50, and is at most as large "
        "as the 90 % circle",
    )

    @model_validator(mode="after")
    def _abstention_has_no_point(self) -> Verdict:
        if self.abstained != (self.lat is None) or (self.lat is None) != (self.lon is None):
            raise ValueError("a verdict has a point exactly when it does not abstain")
        return self

    @property
    def point(self) -> LatLon | None:
        """`lat` and `lon` as one value; None when it abstains."""
        return None if self.lat is None or self.lon is None else LatLon(lat=self.lat, lon=self.lon)

    @property
    def radius_remark(self) -> str:
        """Why the radius and the confidence should not be shown as percentages; empty where they may be."""
        return self.calibration.remark if self.calibration is not None else ""


class Answer(Verdict):
    """The result of a request: the verdict, and how the service reached it."""

    n: RunCount
    route: Route | None = None
    stop_reason: StopReason
    rollouts: tuple[RolloutStatus, ...] = ()
    undone: tuple[str, ...] = Field(default=(), description="planned work that was not done, with the reason")
    usage: Usage = Usage()
    usage_by_model: tuple[ModelUsage, ...] = Field(
        default=(),
        description="what the rollouts of each model of a mixture used. A rollout that another model continued counts "
        "for that model. What other parts than rollouts used is only in `usage`. Absent if one model serves all",
        exclude_if=lambda models: not models,
    )
    timing: Timing
    provenance: Provenance = Provenance()
    file_claims: tuple[FileClaim, ...] = Field(
        default=(), description="statements in the files about the photos (`exif: report`); never used for the answer"
    )
    file_checks: tuple[FileCheck, ...] = Field(
        default=(), description="the claims of the files, compared with the answer and with each other (`claims: true`)"
    )
    changed: Change | None = Field(default=None, description="for a continued request: how the answer changed, and why")
    budget: BudgetUse | None = Field(
        default=None,
        description="the budget of the request, and the used part; absent if the request has no budget",
        exclude_if=lambda used: used is None,
    )
