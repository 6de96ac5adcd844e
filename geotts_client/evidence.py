"""The parts of an answer: candidates with their radii, and the evidence that a person can check."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.value import Value

Share = Annotated[float, Field(ge=0, le=1)]

CONTINENT_KM = 2500.0  # an error of a continent: a circle that is wider tells nobody where to look


class Radius(Value):
    """Radii in km around the answer that hold the true place with 50 % and 90 % probability."""

    p50: Annotated[float, Field(gt=0)]
    p90: Annotated[float, Field(gt=0)]

    @property
    def remark(self) -> str:
        """What to say instead of a 90 % radius that is wider than a continent; empty for any other."""
        return "it may also be on another continent" if self.p90 > CONTINENT_KM else ""


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
    dissent: tuple[str, ...] = Field(default=(), description="evidence against the candidate")
    outside: bool = Field(default=False, description="true: the candidate lies outside the area that the caller gave")


class Evidence(Value):
    """A claim, and its source: a rollout, its tool call, and the quote or URL.

    If an abstention names candidates, its evidence is for or against the first one.
    """

    id: str
    claim: str
    supports: bool = Field(default=True, description="false: the claim is evidence against the answer")
    grounded: bool = Field(default=False, description="true: a tool result states the claim")
    rollout_id: int | None = None
    call_id: str | None = None
    tool: str = ""
    quote: str = ""
    url: str | None = None
    retrieved_at: str = ""
