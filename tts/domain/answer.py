"""The answer: where, how exactly, how sure, and what a person can check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from tts.domain.exif import FileClaim
from tts.domain.geo import LatLon
from tts.domain.geojson import circle_geometry, point_geometry
from tts.domain.hypothesis import Level
from tts.domain.plan import Locatability, Plan
from tts.domain.usage import Usage
from tts.domain.value import Value

Share = Annotated[float, Field(ge=0, le=1)]


class StopReason(StrEnum):
    """Why a rollout, or a request, ended. None of these is an error."""

    ANSWERED = "answered"
    BUDGET = "budget"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    QUORUM = "quorum"
    FAILED = "failed"


class Radius(Value):
    """Radii in km around the answer that hold the true place with 50 % and 90 % probability."""

    p50: Annotated[float, Field(gt=0)]
    p90: Annotated[float, Field(gt=0)]


class Candidate(Value):
    """A cluster of rollouts that agree. `support` is its share of the evidence-weighted vote."""

    lat: float
    lon: float
    radius_km: Radius
    country: str = ""
    country_code: str = ""
    region: str = ""
    city: str = ""
    place: str = ""
    support: Share
    rollouts: tuple[int, ...]
    dissent: tuple[str, ...] = Field(default=(), description="what speaks against it")


class Evidence(Value):
    """A claim, and what it rests on: follow rollout → tool call → quote or url."""

    id: str
    claim: str
    supports: bool = Field(default=True, description="false: this speaks against the answer")
    grounded: bool = Field(default=False, description="true: a tool result states it")
    rollout_id: int | None = None
    call_id: str | None = None
    tool: str = ""
    quote: str = ""
    url: str | None = None
    retrieved_at: str = ""


class RolloutStatus(Value):
    """How one rollout ended and what it took."""

    rollout_id: int
    stop_reason: StopReason | None
    answered: bool
    turns: int = 0
    tool_calls: int = 0
    error: str = ""


class Route(Value):
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
    """How many rollouts were asked for, planned, started, and gave an answer."""

    asked: int
    planned: int
    run: int
    answered: int


class Provenance(Value):
    """What would be needed to get this answer again."""

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


class Verdict(Value):
    """What the verifier says: where, how exactly, how sure, and why.

    When nothing supports a point, `abstained` is true, `lat` and `lon` are null, and `level` and the names say how much
    is supported. A place known to country level only carries a representative point and an honest radius.
    """

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
    confidence: Share = Field(description="probability that the true place is within target_radius_km")
    target_radius_km: float
    explanation: str = ""
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _abstention_has_no_point(self) -> Verdict:
        if self.abstained != (self.lat is None) or (self.lat is None) != (self.lon is None):
            raise ValueError("a verdict has a point exactly when it does not abstain")
        return self

    @property
    def point(self) -> LatLon | None:
        return None if self.lat is None or self.lon is None else LatLon(lat=self.lat, lon=self.lon)


class Answer(Verdict):
    """The result of a request: the verdict, and what it took to get there."""

    n: RunCount
    route: Route | None = None
    stop_reason: StopReason
    rollouts: tuple[RolloutStatus, ...] = ()
    undone: tuple[str, ...] = Field(default=(), description="what was planned and left undone, and why")
    usage: Usage = Usage()
    timing: Timing
    provenance: Provenance = Provenance()
    file_claims: tuple[FileClaim, ...] = Field(
        default=(), description="what the files claim about themselves (exif: report); never used for the answer"
    )

    def geojson(self) -> dict[str, Any]:
        """RFC 7946 FeatureCollection: the point, the 50 % and 90 % circles as polygons, and the other candidates."""
        summary = self.jsonable()
        for heavy in ("candidates", "evidence", "route", "rollouts", "provenance"):
            summary.pop(heavy)
        features = [_feature("answer", point_geometry(self.point), summary)]
        if self.point is not None and self.radius_km is not None:
            for name, radius in (("radius_90", self.radius_km.p90), ("radius_50", self.radius_km.p50)):
                features.append(_feature(name, circle_geometry(self.point, radius), {"radius_km": radius}))
        for rank, candidate in enumerate(self.candidates):
            point = LatLon(lat=candidate.lat, lon=candidate.lon)
            features.append(_feature("candidate", point_geometry(point), {"rank": rank, **candidate.jsonable()}))
        return {"type": "FeatureCollection", "features": features}


def _feature(role: str, geometry: dict[str, Any] | None, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": {"role": role, **properties}}
