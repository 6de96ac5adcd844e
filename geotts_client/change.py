"""What a continued request changed: the answer before, the answer after, and why."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.hypothesis import Level
from geotts_client.value import Value


class AnsweredPlace(Value):
    """An answer in short. If it is an abstention, `place` is empty and there is no point."""

    place: str = ""
    lat: float | None = None
    lon: float | None = None
    level: Level = Level.NONE
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


class Change(Value):
    """How a continued request changed the answer. `before` is null if the earlier request has no answer. `why` says in
    plain words what the caller added.
    """

    continues: str = Field(description="the id of the earlier request")
    text: str = Field(description="one sentence for a person")
    before: AnsweredPlace | None
    after: AnsweredPlace
    why: tuple[str, ...] = ()
    distance_km: float | None = Field(
        default=None, description="distance between the two points; null if one answer has no point"
    )
