"""The parts of an answer: candidates with their radii, and the evidence that a person can check."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.place_names import CityName, CountryCode, CountryName, PlaceName, RegionName
from geotts_client.value import Value

Share = Annotated[float, Field(ge=0, le=1)]

CONTINENT_KM = 2500.0  # an error of a continent: a circle that is wider tells nobody where to look


class Radius(Value):
    """Radii in km around the answer that hold the true place with 50 % and 90 % probability."""

    p50: Annotated[float, Field(gt=0)] = Field(
        description="radius in km that contains the true place in 50 % of answers (the median error)"
    )
    p90: Annotated[float, Field(gt=0)] = Field(
        description="radius in km that contains the true place in 90 % of answers; larger than `p50`"
    )

    @property
    def remark(self) -> str:
        """What to say instead of a 90 % radius that is wider than a continent; empty for any other."""
        return "it may also be on another continent" if self.p90 > CONTINENT_KM else ""


class Candidate(Value):
    """A place that at least one rollout supports, or that a search of the verifier found."""

    lat: float = Field(description="degrees north, WGS-84")
    lon: float = Field(description="degrees east, WGS-84")
    radius_km: Radius = Field(description="radii around its point; those of other candidates than the answer are rough")
    country: CountryName = ""
    country_code: CountryCode = ""
    region: RegionName = ""
    city: CityName = ""
    place: PlaceName = ""
    support: Share = Field(
        description="share of the evidence-weighted vote. Of the alternative in a check, if it is no candidate of the "
        "answer: the mass around it",
    )
    rollouts: tuple[int, ...] = Field(
        description="ids of the rollouts that vote for it; empty if none does, and with `gateway.max_precision`"
    )
    dissent: tuple[str, ...] = Field(default=(), description="evidence against the candidate")
    outside: bool = Field(default=False, description="true: the candidate lies outside the area that the caller gave")


class Evidence(Value):
    """A claim, and its source: a rollout, its tool call, and the quote or URL.

    If an abstention names candidates, its evidence is for or against the first one.
    """

    id: str = Field(description="name of the entry, unique in its list, such as `e1`")
    claim: str = Field(description="the fact, in words for a person")
    supports: bool = Field(default=True, description="false: the claim is evidence against the answer")
    grounded: bool = Field(default=False, description="true: a tool result states the claim")
    rollout_id: int | None = Field(
        default=None,
        description="the rollout whose claim it is; null if it is of all rollouts, of the verifier or of the caller",
    )
    call_id: str | None = Field(
        default=None, description="`id` of the tool call whose result states it; null if no call does"
    )
    tool: str = Field(default="", description="name of the tool of this call; empty if no call states it")
    quote: str = Field(
        default="", description="the words of the tool result, of the photo or of the hint; empty if there are none"
    )
    url: str | None = Field(
        default=None, description="address of the page or place in the tool result; null if it has none"
    )
    retrieved_at: str = Field(
        default="", description="when the provider answered (RFC 3339, UTC); empty if no call states it"
    )
