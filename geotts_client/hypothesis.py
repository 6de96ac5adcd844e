"""The belief of a rollout at one moment: a place, its level, a confidence, and the sources that it cites."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from geotts_client.latlon import LatLon
from geotts_client.text_line import TextLine
from geotts_client.tooling import Datum
from geotts_client.value import Value


class Level(StrEnum):
    """How exactly a place is known. `rank` orders the levels from nothing to a point."""

    NONE = "none"
    COUNTRY = "country"
    REGION = "region"
    CITY = "city"
    POINT = "point"

    @property
    def rank(self) -> int:
        """0 for none to 4 for a point."""
        return _RANKS[self]


_RANKS = {level: rank for rank, level in enumerate(Level)}


class Claim(Value):
    """A reason that a rollout gives, and the tool call that it names as its source, if any."""

    text: str = Field(description="the reason, in the words of the model")
    call_id: str | None = Field(
        default=None, description="`id` of the tool call that the model names as its source; null if it names none"
    )
    quote: str = Field(default="", description="what the model quotes from the source; empty if it quotes nothing")


class Located(Value):
    """What hypotheses and the answers that models write have in common."""

    point: LatLon | None = Field(default=None, description="the place; null for an abstention")
    datum: Datum = Field(default="WGS-84", description="datum of `point`")
    level: Level = Field(default=Level.POINT, description="how exactly the rollout says that it knows the place")
    radius_km: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="radius in km that the rollout states; null if it states none. It is not calibrated"
    )
    country: str = Field(
        default="", description="name of the country, as the rollout states it; empty if it names none"
    )
    country_code: str = Field(
        default="", description="ISO 3166-1 alpha-2 code of the country; empty if the rollout states none"
    )
    region: str = Field(default="", description="name of the region, as the rollout states it; empty if it names none")
    city: str = Field(default="", description="name of the town, as the rollout states it; empty if it names none")
    place: str = Field(
        default="", description="name of the place in the town, as the rollout states it; empty if it names none"
    )
    confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="the rollout's own estimate, 0 to 1; null if it states none. It is never used as a probability",
    )
    reasoning: str = Field(default="", description="the reasons, in the words of the rollout; empty if it gives none")
    claims: tuple[Claim, ...] = Field(default=(), description="single reasons, with their sources")
    read: tuple[TextLine, ...] = Field(default=(), description="lines of text in the photo on which it rests")
    wants_depth: Literal["short", "deep"] | None = Field(
        default=None, description="how much reasoning the model says this photo needs"
    )

    @property
    def abstains(self) -> bool:
        """Whether it has no point; it may still name a country, a region or a city."""
        return self.point is None


class Hypothesis(Located):
    """The place that a rollout considers right, in WGS-84; an abstention if `point` is null."""

    datum: Literal["WGS-84"] = "WGS-84"
