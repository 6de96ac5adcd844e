"""An answer that is a place in words, and how it is looked up."""

from __future__ import annotations

from typing import Final

from tts.dialects.base import ParsedTurn
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.hypothesis import Level
from tts.domain.tooling import ToolCall

_MAX_CHARS: Final = 300
_MAX_LOOKUPS: Final = 3


def place_answer(words: str, *, turn: int) -> ParsedTurn | None:
    """The place, with lookups for the whole of it and for what is left when its finest parts are taken away."""
    parts = [part.strip() for part in words[:_MAX_CHARS].split(",") if part.strip()]
    if not parts:
        return None
    stated = StatedAnswer(
        point=None,
        level=Level.CITY if len(parts) > 1 else Level.COUNTRY,
        country=parts[-1] if len(parts) > 1 or len(parts[0].split()) < 3 else "",
        city=parts[-3] if len(parts) > 3 else parts[0] if len(parts) > 1 else "",
        place=parts[0] if len(parts) > 3 else "",
    )
    lookups = tuple(
        ToolCall(id=f"locate_{turn}_{i}", name="geocode", arguments={"address": ", ".join(parts[i:])[:200]})
        for i in range(min(_MAX_LOOKUPS, len(parts)))
    )
    return ParsedTurn(answer=stated, lookups=lookups)
