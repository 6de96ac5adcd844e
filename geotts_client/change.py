"""What a continued request changed: the answer before, the answer after, and why."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.hypothesis import Level
from geotts_client.value import Value


class AnsweredPlace(Value):
    """An answer in short. `place` is empty, and there is no point, where it was an abstention."""

    place: str = ""
    lat: float | None = None
    lon: float | None = None
    level: Level = Level.NONE
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


class Change(Value):
    """`before` is null where the earlier request came to no answer. `why` has what the caller added, in plain words."""

    continues: str = Field(description="the id of the earlier request")
    text: str = Field(description="one sentence for a person")
    before: AnsweredPlace | None
    after: AnsweredPlace
    why: tuple[str, ...] = ()
    distance_km: float | None = Field(default=None, description="between the two points, where there are two")
