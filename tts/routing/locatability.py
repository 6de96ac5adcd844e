"""How much of a place a photo shows, from cues that cost no model; and a fixed rating for measurements.

Besides its score every rating may carry `deep`, the probability that search helps this photo by more than 50 km; that,
and never what is pictured alone, decides the depth.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from tts.decision_weights import weights
from tts.domain.photo import Photo
from tts.domain.plan import Locatability
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.geodata.english_names import script_names
from tts.ports.locator import Routing
from tts.ports.perception import Perception
from tts.routing.empty_photo import CONTENT_FROM, structure_of
from tts.routing.photo_measures import image_cues
from tts.routing.predictor import DepthPredictor
from tts.routing.small_copy import small_copy

_W = weights("locatability")


class CuesLocator:
    """Scores by what can be read and how the photo looks. The readings travel on: perception runs once a photo."""

    def __init__(self, perception: Perception, predictor: DepthPredictor | None = None) -> None:
        self._perception = perception
        self._predictor = predictor

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Read every photo and rate the cues; the predictor, where there is one, refines the rating."""
        ratings = [await asyncio.to_thread(_view_cues, photo) for photo in photos]
        readings = await asyncio.gather(*(self._perception.read(photo, None, context) for photo in photos))
        readings = [
            reading.of_photo(number).model_copy(update={"cues": {**reading.cues, **view}})
            for number, (reading, view) in enumerate(zip(readings, ratings, strict=True))
        ]
        rated = rate_cues(readings)
        if self._predictor is not None:
            rated = self._predictor.refine(rated)
        return Routing(locatability=rated, readings=tuple(readings))


def _view_cues(photo: Photo) -> dict[str, float]:
    pixels = small_copy(photo)
    return {**image_cues(pixels), "content": round(structure_of(pixels).content, 3)}


class FixedLocator:
    """Always the same score; for engines that look for themselves and for measurements. Reads nothing."""

    def __init__(self, score: float) -> None:
        self._score = score

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """The configured score, with no readings and nothing sent."""
        return Routing(locatability=Locatability(score=self._score, method="fixed", why="a fixed score is configured"))


def rate_cues(readings: Sequence[Reading]) -> Locatability:
    """The rating of what was read and seen; the best photo of several counts."""
    letters = sum(len(line.text) * line.confidence for reading in readings for line in reading.lines)
    lines = sum(len(reading.lines) for reading in readings)
    unread = sum(len(reading.unread) for reading in readings)
    scripts = {line.script for reading in readings for line in reading.lines if line.script not in ("", "Zyyy")}
    text = 1.0 - math.exp(-letters / _W["telling_letters"])
    telling = 1.0 if scripts - {"Latn"} else 0.0
    view = {name: max((reading.cues.get(name, 0.0) for reading in readings), default=0.0) for name in _VIEW_CUES}
    outside = view["structure"] * (1.0 - view["indoor"]) * (1.0 - _W["blur_hides"] * view["blur"])
    if lines:
        score = _W["least"] + _W["by_text"] * text + _W["by_script"] * telling + _W["by_outside"] * outside
    else:
        score = _W["least"] + _W["by_outside_alone"] * outside
    deep = min(_W["deep_most"], _W["deep_by_line"] * lines + _W["deep_by_unread"] * unread) * text
    shows = max((reading.cues.get("content", 1.0) for reading in readings), default=1.0)
    parts = {"text": text, "telling_script": telling, **view, "content": shows, "deep": deep}
    seen = _view_text(view) if shows >= CONTENT_FROM else "nothing else can be seen"
    return Locatability(
        score=round(min(1.0, score), 3),
        method="cues",
        parts={name: round(value, 3) for name, value in parts.items()},
        why=f"{_text_reason(lines, scripts)}; {seen}",
    )


_VIEW_CUES = ("sky", "vegetation", "structure", "blur", "indoor")


def _text_reason(lines: int, scripts: set[str]) -> str:
    if not lines:
        return "no readable text"
    readable = "one readable line" if lines == 1 else f"{lines} readable lines"
    return f"{readable} in {script_names(scripts)} script" if scripts else f"{readable}, digits only"


def _view_text(view: dict[str, float]) -> str:
    if view["indoor"] > 0.5:
        return "it looks like the inside of a building"
    if view["blur"] > 0.9:
        return "the photo is blurred"
    kind = "buildings or roads" if view["structure"] > 0.3 else "few buildings"
    return f"{kind}, {view['sky']:.0%} sky, {view['vegetation']:.0%} plants"
