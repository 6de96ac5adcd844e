"""What a continued request changed: the answer before, the answer after, and why."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.hypothesis import Level
from geotts_client.value import Value


class AnsweredPlace(Value):
    """An answer in short."""

    place: str = Field(
        default="",
        description="the finest name of the place, with its country; the coordinates if it has no name; empty for an "
        "abstention",
    )
    lat: float | None = Field(default=None, description="degrees north, WGS-84; null for an abstention")
    lon: float | None = Field(default=None, description="degrees east, WGS-84; null for an abstention")
    level: Level = Field(default=Level.NONE, description="how exactly the place is known")
    confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0,
        description="probability that the true place lies within `target_radius_km` of the point; 0 for an abstention",
    )


class Change(Value):
    """How a continued request changed the answer."""

    continues: str = Field(description="the id of the earlier request")
    text: str = Field(description="one sentence for a person")
    before: AnsweredPlace | None = Field(description="the answer of the earlier request; null if it has none")
    after: AnsweredPlace = Field(description="the answer of this request")
    why: tuple[str, ...] = Field(default=(), description="what the caller added, one entry each, in plain words")
    distance_km: float | None = Field(
        default=None, description="distance between the two points; null if one answer has no point"
    )
