"""What the first turn of a rollout says about how a photo can be located."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from geotts_client.hypothesis import Level
from geotts_client.value import Value

ExplicitCue = Literal["text", "landmark"]
ImplicitCue = Literal["vegetation", "road_furniture", "light", "architecture"]


class Cues(Value):
    """Kinds of cues a turn goes by, how far down it says where the photo is, and whether it wants to search.

    Explicit cues settle a place by themselves; implicit ones have to be combined.
    """

    explicit: tuple[ExplicitCue, ...] = ()
    implicit: tuple[ImplicitCue, ...] = ()
    level: Level = Field(default=Level.NONE, description="of the place it states or looks up by name")
    wants_tool: bool = False
    wants_depth: Literal["short", "deep"] | None = Field(default=None, description="where the model says it itself")
    directions: tuple[str, ...] = Field(
        default=(),
        description="lines of enquiry that a leader names for its siblings; left out where it was not asked",
        exclude_if=lambda directions: not directions,
    )
