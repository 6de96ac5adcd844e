"""The embedded engine: no GPU, no key, no download. It sees through perception and thinks by looking names up.

It speaks the `generic` dialect like any model: tool calls and a JSON answer, sampled by temperature and seed. It keeps
no state: what it has done so far it reads back from the conversation, so a rollout can move between processes.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from typing import Any

from tts.config import CluesEngine
from tts.domain.messages import Message
from tts.domain.reading import TextLine
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.domain.usage import Usage
from tts.ports import Delta, ModelRequest

_NAMES_A_TURN = 3
_CHUNK = 24


class CluesModel:
    """The `ModelClient` that reads signs. Deterministic for a reading, a conversation and a seed."""

    def __init__(self, config: CluesEngine) -> None:
        self._config = config

    @property
    def name(self) -> str:
        return "clues"

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        text, calls = self._decide(request)
        for at in range(0, len(text), _CHUNK):
            yield Delta(text=text[at : at + _CHUNK])
        yield Delta(
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            usage=Usage(
                prompt_tokens=sum(len(message.text) for message in request.messages) // 4,
                completion_tokens=len(text) // 4 + 8 * len(calls),
            ),
        )

    def _decide(self, request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
        temperature = request.sampling.temperature and self._config.temperature
        rng = random.Random(request.sampling.seed or 0)
        lines = [line for reading in request.readings for line in reading.lines]
        results = [message.result for message in request.messages if message.result is not None]
        asked = _asked(request.messages)
        fresh = [line for line in lines if line.text not in asked]
        may_search = any(tool.name == "poi_keyword_search" for tool in request.tools)
        if may_search and fresh and (len(asked) < 2 * _NAMES_A_TURN) and not _good(results):
            chosen = _sample(fresh, rng, temperature)
            said = (
                "I can read " + ", ".join(f"“{line.text}”" for line in chosen) + ". Is any of it the name of a place?"
            )
            turn = len([m for m in request.messages if m.role == "assistant"])
            return said, tuple(
                ToolCall(id=f"call_{turn}_{i}", name="poi_keyword_search", arguments={"query": line.text[:200]})
                for i, line in enumerate(chosen)
            )
        return _answer(lines, results), ()


def _asked(messages: tuple[Message, ...]) -> set[str]:
    return {str(call.arguments.get("query")) for message in messages for call in message.tool_calls}


def _sample(lines: list[TextLine], rng: random.Random, temperature: float) -> list[TextLine]:
    """Prominent lines first; temperature shuffles by adding noise to their prominence."""

    def prominence(line: TextLine) -> float:
        return line.height_px * line.confidence * (1.0 + temperature * rng.uniform(-0.9, 0.9))

    return sorted(lines, key=prominence, reverse=True)[:_NAMES_A_TURN]


def _good(results: list[ToolResult]) -> list[tuple[PlaceFact, ToolResult]]:
    """Places that bear exactly the name that was read, most populous first."""
    found = [
        (fact, result)
        for result in results
        for fact in result.facts
        if isinstance(fact, PlaceFact) and fact.point is not None and (fact.score or 0) >= 0.93
    ]
    return sorted(found, key=lambda pair: -(pair[0].population or 0))


def _answer(lines: list[TextLine], results: list[ToolResult]) -> str:
    good = _good(results)
    answer: dict[str, Any] = {"lat": None, "lon": None, "level": "none", "confidence": 0.0, "evidence": []}
    if good:
        place, result = good[0]
        assert place.point is not None
        said = f"{place.name} is a {place.place_kind} in {place.country_code}; a sign in the photo carries its name."
        answer |= {
            "lat": place.point.lat,
            "lon": place.point.lon,
            "radius_km": 25.0,
            "level": "city",
            "country_code": place.country_code,
            "region": place.admin1,
            "city": place.name,
            "confidence": 0.4 if len(good) == 1 else 0.25,
            "evidence": [{"claim": f"a sign names {place.name}", "call": result.call_id, "quote": place.name}],
        }
    elif lines:
        said = "I can read text, but none of it is the name of a place I can find. I do not know where this is."
    else:
        said = "I can read no text in this photo, and without text I cannot tell where it is."
    return said + "\n" + json.dumps(answer, ensure_ascii=False)
