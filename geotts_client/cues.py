"""What the first turn of a rollout says about how a photo can be located."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from geotts_client.hypothesis import Level
from geotts_client.value import Value

ExplicitCue = Literal["text", "landmark"]
ImplicitCue = Literal["vegetation", "road_furniture", "light", "architecture"]


class Cues(Value):
    """The kinds of cues that a turn uses, the level at which it names a place, and whether it wants to search.

    An explicit cue identifies a place alone; implicit cues have to be combined.
    """

    explicit: tuple[ExplicitCue, ...] = Field(
        default=(), description="kinds of explicit cues in the text of the turn; empty if it names none"
    )
    implicit: tuple[ImplicitCue, ...] = Field(
        default=(), description="kinds of implicit cues in the text of the turn; empty if it names none"
    )
    level: Level = Field(default=Level.NONE, description="level of the place that the turn states or looks up")
    wants_tool: bool = Field(default=False, description="true: the turn calls a tool")
    wants_depth: Literal["short", "deep"] | None = Field(
        default=None, description="the depth that the model itself asks for"
    )
    directions: tuple[str, ...] = Field(
        default=(),
        description="lines of enquiry that a leader names for its siblings; absent if it was not asked",
        exclude_if=lambda directions: not directions,
    )
