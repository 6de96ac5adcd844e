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

    text: str
    call_id: str | None = None
    quote: str = ""


class Located(Value):
    """What hypotheses and the answers that models write have in common."""

    point: LatLon | None = None
    datum: Datum = "WGS-84"
    level: Level = Level.POINT
    radius_km: Annotated[float, Field(gt=0)] | None = None
    country: str = ""
    country_code: str = ""
    region: str = ""
    city: str = ""
    place: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    reasoning: str = ""
    claims: tuple[Claim, ...] = ()
    read: tuple[TextLine, ...] = Field(default=(), description="lines of text in the photo on which it rests")
    wants_depth: Literal["short", "deep"] | None = Field(
        default=None, description="how much reasoning the model says this photo needs"
    )

    @property
    def abstains(self) -> bool:
        """Whether it has no point; it may still name a country, a region or a city."""
        return self.point is None


class Hypothesis(Located):
    """The place that a rollout considers right, in WGS-84; an abstention if `point` is null.

    `confidence` is the rollout's own estimate in [0, 1]; it is never used as a probability.
    """

    datum: Literal["WGS-84"] = "WGS-84"
