"""The knowledge of a rollout of the embedded engine, read from its conversation.

The engine keeps no state between turns, so a rollout can be continued in another process: the lines that it follows
depend on its seed alone, and everything else is in the messages.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.photo import Box
from tts.domain.reading import TextLine, line_of_fact
from tts.domain.tooling import CountryFact, PlaceFact, TextFact, ToolCall, ToolResult
from tts.ports.model_client import ModelRequest

_W = weights("embedded")
_DROPPED_LINES_SHARE = _W["dropped_lines"]
_USUAL_TEMPERATURE = _W["usual_temperature"]


@dataclass(frozen=True, slots=True)
class Notes:
    """Lines (largest first, then what zooming brought: `found_lines`), boxes looked at, queries asked, and all tool
    results."""

    draw: str
    temperature: float
    turn: int
    lines: tuple[TextLine, ...]
    found_lines: tuple[TextLine, ...]
    unread: tuple[Box, ...]
    looked: frozenset[Box]
    read_as: frozenset[tuple[Box, str]]
    asked: frozenset[tuple[str, str]]
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]

    def random(self, purpose: str) -> random.Random:
        """The same numbers for the same seed, photos and purpose, whatever process asks; others for other photos."""
        return random.Random(f"{self.draw}/{purpose}")

    def places(self) -> list[tuple[PlaceFact, ToolResult]]:
        """Every place that tools returned so far, with its result, in the order of the results."""
        return [(fact, result) for result in self.results for fact in result.facts if isinstance(fact, PlaceFact)]

    def countries(self) -> list[tuple[CountryFact, ToolResult]]:
        """Every country that tools returned so far, with its result, in the order of the results."""
        return [(fact, result) for result in self.results for fact in result.facts if isinstance(fact, CountryFact)]


def notes(request: ModelRequest, temperature: float) -> Notes:
    """Read a conversation. `temperature` is the engine's; a greedy request makes it 0."""
    turn = sum(message.role == "assistant" for message in request.messages)
    drawn = request.sampling.temperature * temperature / _USUAL_TEMPERATURE
    seed = (request.sampling.seed or 0) - turn  # a dialect counts the turns of a rollout up from its seed
    draw = "/".join([str(seed), *(photo.sha256 for photo in request.photos)])
    calls = [call for message in request.messages for call in message.tool_calls]
    boxes = [(box, str(c.arguments.get("language", ""))) for c in calls if (box := _box(c.arguments)) is not None]
    results = tuple(message.result for message in request.messages if message.result is not None)
    read = [line for reading in request.readings for line in reading.lines]
    found = tuple(line_of_fact(fact) for result in results for fact in result.facts if isinstance(fact, TextFact))
    return Notes(
        draw=draw,
        temperature=drawn,
        turn=turn,
        lines=(*_followed_lines(read, drawn, random.Random(f"{draw}/lines")), *found),
        found_lines=found,
        unread=tuple(box for reading in request.readings for box in reading.unread),
        looked=frozenset(box for box, language in boxes if not language),
        read_as=frozenset((box, language) for box, language in boxes if language),
        asked=frozenset((str(call.arguments.get("query")), str(call.arguments.get("country"))) for call in calls),
        calls=tuple(calls),
        results=results,
    )


def gumbel(uniform: float, temperature: float) -> float:
    """Noise on a logarithm that turns “the best” into “one in proportion to its worth” at temperature 1."""
    return -temperature * math.log(-math.log(min(1.0 - 1e-9, max(1e-9, uniform))))


def _followed_lines(lines: list[TextLine], temperature: float, rng: random.Random) -> list[TextLine]:
    """The lines a rollout follows: the largest always, the others unless chance leaves them out."""
    return [line for i, line in enumerate(lines) if rng.random() >= temperature * _DROPPED_LINES_SHARE or i == 0]


def _box(arguments: Mapping[str, object]) -> Box | None:
    corners = arguments.get("bbox")
    if not isinstance(corners, list | tuple) or len(corners) != 4:
        return None
    x0, y0, x1, y1 = (float(value) for value in corners)
    return Box(x0=x0, y0=y0, x1=x1, y1=y1, photo=int(str(arguments.get("photo", 0))))
