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
from geotts_client.place_names import CityName, CountryCode, CountryName, PlaceName, RegionName
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

    about: Literal["within", "hint", "photos", "not_there"] = Field(
        description="which statement: the area (`within`), the hint, that the photos are of one place (`photos`), or "
        "a place that was ruled out (`not_there`)",
    )
    text: str = Field(description="one sentence for a person")


class HintOutcome(Value):
    """The caller's hint, compared with the answer."""

    outcome: Literal["agrees", "near", "same_country", "contradicted", "unchecked"] = Field(
        description="`agrees`: the answer lies in the place of the hint. `near`: it lies near it, as the hint says. "
        "`same_country`: it is another place of that country. `contradicted`: the photo speaks against "
        "the hint. `unchecked`: nothing confirms the hint or speaks against it, or the hint names no "
        "known place",
    )
    place: str = Field(default="", description="the place that the hint states; empty if it names no known place")
    text: str = Field(description="one sentence for a person")


class PhotoAnswer(Value):
    """Where one of several photos was taken, if they cannot be of one place."""

    photo: Annotated[int, Field(ge=0)] = Field(description="which photo, counted from 0")
    lat: float | None = Field(description="degrees north, WGS-84; null if there is no answer for this photo")
    lon: float | None = Field(description="degrees east, WGS-84; null if there is no answer for this photo")
    radius_km: Radius | None = Field(description="radii around the point; null if there is no answer for this photo")
    level: Level = Field(description="how exactly the place of this photo is known")
    abstained: bool = Field(description="true: what was read in this photo does not support a point")
    country: CountryName = ""
    country_code: CountryCode = ""
    region: RegionName = ""
    city: CityName = ""
    place: PlaceName = ""
    confidence: Share = Field(
        description="probability that the true place lies within the answer's `target_radius_km` of this point; 0 "
        "without a point",
    )
    explanation: str = Field(default="", description="the reasons, in a few sentences for a person")
    evidence: tuple[Evidence, ...] = Field(default=(), description="facts for and against the place of this photo")


class RolloutStatus(Value):
    """How one rollout ended, and what it used."""

    rollout_id: int = Field(description="id of the rollout, counted from 0")
    stop_reason: StopReason | None = Field(description="why the rollout ended; null if it had not ended")
    answered: bool = Field(
        description="true: the rollout gave an answer, or had a hypothesis when it ended. “I do not know” counts too"
    )
    turns: int = Field(default=0, description="number of turns of the rollout")
    tool_calls: int = Field(default=0, description="number of tool calls of the rollout")
    error: str = Field(default="", description="code and detail of the failure; empty if the rollout did not fail")
    source: Source = ""


class Route(Value):
    """How the service rated the photos, what it planned, what it expected this to cost, and what it cost."""

    locatability: Locatability = Field(description="how easily the photos can be located")
    plan: Plan = Field(description="the first plan; later plans are in the events `escalated`")
    predicted_cost: dict[str, float] = Field(
        default={},
        description="what the first plan and all escalations were expected to take, by name: `rollouts`, `turns`, "
        "`tool_calls`, `completion_tokens`, and `cost_usd` if the model has a price",
    )
    real_cost: dict[str, float] = Field(
        default={},
        description="what the rollouts took, by name: `rollouts`, `turns`, `tool_calls`, `completion_tokens`",
    )


class Timing(Value):
    """Seconds since the request was accepted."""

    total_s: float = Field(description="seconds until the answer was complete")
    routed_s: float | None = Field(
        default=None, description="seconds until the photos were rated; null if they were not rated"
    )
    first_hypothesis_s: float | None = Field(
        default=None, description="seconds until a rollout first stated a hypothesis; null if none did"
    )
    rollouts_s: float | None = Field(
        default=None, description="seconds until the last rollouts had ended or were stopped"
    )
    verified_s: float | None = Field(
        default=None,
        description="seconds until the verifier had made its last verdict, or had failed; null if it was not asked",
    )


class RunCount(Value):
    """Numbers of rollouts."""

    asked: int = Field(
        description="number of rollouts that the caller asked for (`n_parallel`), or that followed from the budget"
    )
    planned: int = Field(description="number of rollouts in the first plan")
    run: int = Field(description="number of rollouts that started, those of escalations and of a check included")
    answered: int = Field(
        description="number of rollouts with an answer, or with a hypothesis when they ended; `abstained` included"
    )
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

    photo_sha256: tuple[str, ...] = Field(
        default=(),
        description="SHA-256 of the clean copy of each photo, in hexadecimal digits, in the order of the photos",
    )
    source_sha256: tuple[str, ...] = Field(
        default=(), description="SHA-256 of the bytes of each photo as they were sent, in hexadecimal digits"
    )
    version: str = Field(default="", description="version of GeoTTS")
    engine: str = Field(
        default="", description="kind of the engine, such as `openai`; several kinds are joined by ` + `"
    )
    model: str = Field(
        default="", description="name of the model as it is configured; several models are joined by ` + `"
    )
    dialect: str = Field(default="", description="dialect of the rollouts")
    prompt_sha256: str = Field(
        default="", description="SHA-256 of the fixed texts of the dialect, in hexadecimal digits"
    )
    verifier: str = Field(
        default="", description="kind of the verifier: `consensus`, or the mode and the engine of a verifier model"
    )
    providers: tuple[str, ...] = Field(
        default=(), description="names of the services that the tools may ask; `offline` is the data of this service"
    )
    data_versions: dict[str, str] = Field(
        default={}, description="version of each data file of the service, by its name"
    )
    seed: int = Field(default=0, description="seed of the request: the seeds of its rollouts follow from it")
    answered_at: str = Field(default="", description="when the answer was made (RFC 3339, UTC)")
    request_id: str = Field(default="", description="id of the request")


class Verdict(Value):
    """What the verifier says: where, how exactly, how sure, and why.

    When nothing supports a point, `abstained` is true, `lat` and `lon` are null, and `level` and the names say how much
    is supported. A place known to country level only carries a representative point and an honest radius.
    """

    lat: float | None = Field(description="degrees north, WGS-84; null if the answer is an abstention")
    lon: float | None = Field(description="degrees east, WGS-84; null if the answer is an abstention")
    radius_km: Radius | None = Field(description="radii around the point; null if the answer is an abstention")
    level: Level = Field(description="how exactly the place is known; no name in the answer is finer")
    abstained: bool = Field(
        description="true: what was found does not support a point; country and region may still be known"
    )
    country: CountryName = ""
    country_code: CountryCode = ""
    region: RegionName = ""
    city: CityName = ""
    place: PlaceName = ""
    town_centre: bool = Field(
        default=False, description="true: the point stands for the named town as a whole, not for a spot in it"
    )
    confidence: Share = Field(description="probability that the true place lies within `target_radius_km` of the point")
    target_radius_km: float = Field(description="precision that the caller wants, in km (option `target_radius_km`)")
    explanation: str = Field(
        default="", description="the reasons, in a few sentences for a person; contradictions come first"
    )
    candidates: tuple[Candidate, ...] = Field(
        default=(),
        description="places that rollouts support, that of the answer first. An abstention may name some, too",
    )
    evidence: tuple[Evidence, ...] = Field(
        default=(), description="facts for the answer, firmest first, then those against it, and what the hint claims"
    )
    warnings: tuple[str, ...] = Field(
        default=(),
        description="what a reader has to know, one sentence each: such as failed rollouts, tools that did not work, "
        "or text that gives orders",
    )
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
    def _check_point(self) -> Verdict:
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

    n: RunCount = Field(description="how many rollouts were asked for, planned, started and answered")
    route: Route | None = Field(default=None, description="rating and plan; null if no plan was recorded")
    stop_reason: StopReason = Field(description="why the request ended")
    rollouts: tuple[RolloutStatus, ...] = Field(
        default=(), description="how each rollout ended, in the order of their ids"
    )
    undone: tuple[str, ...] = Field(default=(), description="planned work that was not done, with the reason")
    usage: Usage = Field(
        default=Usage(),
        description="what the request used: its rollouts, and other models (verifier, rating of photos)",
    )
    usage_by_model: tuple[ModelUsage, ...] = Field(
        default=(),
        description="what the rollouts of each model of a mixture used. A rollout that another model continued counts "
        "for that model. What other parts than rollouts used is only in `usage`. Absent if one model serves all",
        exclude_if=lambda models: not models,
    )
    timing: Timing = Field(description="when each part of the work was done")
    provenance: Provenance = Field(default=Provenance(), description="what this answer was made from")
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
