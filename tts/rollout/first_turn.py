"""Reads the cues that the first turn of a rollout gives about a photo, without another call to the model."""

from __future__ import annotations

from tts.dialects.base import Dialect, ParsedTurn
from tts.dialects.directions import directions_in
from tts.domain.cues import Cues
from tts.domain.hypothesis import Level
from tts.domain.photo import Photo
from tts.ports.rollout_groups import RolloutTask

# Tools of `tools.places` that take the name of a place. The library imports no tools: a test compares both.
TOOLS_FOR_NAMES = frozenset({"poi_keyword_search", "poi_input_tips", "geocode"})


def first_cues(
    dialect: Dialect, parsed: ParsedTurn, text: str, photos: tuple[Photo, ...], task: RolloutTask | None = None
) -> Cues:
    """The kinds of cues in the text, the level of the place that it states or looks up by name, and the directions
    that the `task` asks for."""
    stated = parsed.answer or parsed.hypothesis
    level = stated.level if stated is not None and _names_place(stated.level, stated.abstains, parsed) else Level.NONE
    targets = {dialect.to_tool(call, photos).name for call in parsed.calls}
    if targets & TOOLS_FOR_NAMES and level.rank < Level.CITY.rank:
        level = Level.CITY
    directions = directions_in(text, task.name_directions) if task is not None else ()
    found = {"level": level, "wants_tool": bool(parsed.calls), "directions": directions}
    return dialect.cues(text).model_copy(update=found)


def _names_place(level: Level, abstains: bool, parsed: ParsedTurn) -> bool:
    """Whether a statement stands for a place: it has a point, or names one that is looked up."""
    return not abstains or bool(parsed.lookups) or level not in (Level.POINT, Level.NONE)
