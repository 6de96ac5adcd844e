"""How much of a place a photo shows, from cues that cost no model: legible text, its size, its scripts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from tts.domain.photo import Photo
from tts.domain.plan import Locatability
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.ports import Perception, Routing


class CuesLocator:
    """Scores by what can be read. The readings travel on, so that perception runs once a photo."""

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        readings = await asyncio.gather(*(self._perception.read(photo, None, context) for photo in photos))
        return Routing(locatability=_rate(readings), readings=tuple(readings))


class FixedLocator:
    """Always the same score; for engines that look for themselves and for measurements. Reads nothing."""

    def __init__(self, score: float) -> None:
        self._score = score

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        return Routing(locatability=Locatability(score=self._score, method="fixed", why="a fixed score is configured"))


def _rate(readings: Sequence[Reading]) -> Locatability:
    letters = sum(len(line.text) * line.confidence for reading in readings for line in reading.lines)
    lines = sum(len(reading.lines) for reading in readings)
    scripts = {line.script for reading in readings for line in reading.lines if line.script not in ("", "Zyyy")}
    text = 1.0 - math.exp(-letters / 40.0)
    telling = 1.0 if scripts - {"Latn"} else 0.0
    score = min(1.0, 0.1 + 0.7 * text + 0.2 * telling)
    if not lines:
        why = "no legible text"
    else:
        why = f"{lines} legible line{'s' if lines > 1 else ''} in {', '.join(sorted(scripts)) or 'digits only'}"
    return Locatability(
        score=round(score, 3), method="cues", parts={"text": round(text, 3), "telling_script": telling}, why=why
    )
