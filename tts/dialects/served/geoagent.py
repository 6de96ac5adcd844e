"""GeoAgent 7B: one JSON chain of thought over three levels, no tools, no coordinates (Qwen2.5-VL).

Each level has clues, reasoning, a conclusion and an uncertainty; they become the explanation. The final answer names
"Country; Region; Place" and is geocoded by the harness, the most specific name first. Bare JSON and JSON inside
`<think>` with the answer in `<answer>` are both in use.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from tts.dialects.base import Completion, ParsedTurn
from tts.dialects.json_answer_parser import json_objects
from tts.dialects.labelled_answer_parser import answer_tags, known_name
from tts.dialects.released.geoagent_loop import ReleasedGeoAgent
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.dialects.text_dialect import TextDialect, split_thought, uncut
from tts.domain.hypothesis import Claim, Level
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.domain.tooling import ToolCall

LEVELS: Final = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")
_PLACEHOLDERS: Final = "Country; Region; Specific Location"
_LEVEL_EXAMPLE: Final = '{"Clues": [], "Reasoning": "", "Conclusion": "", "Uncertainty": ""}'
_RESIZE_RULE: Final = ResizeRule(min_pixels=56 * 56, max_pixels=1280 * 28 * 28, multiple=28)
_CONFIDENCE_BY_UNCERTAINTY: Final = {"low": 0.8, "medium": 0.5, "moderate": 0.5, "high": 0.2}
_MARKUP_CHARACTERS: Final = " \n*_`\"'"
_LEVEL_LABEL: Final = re.compile(r"(?:country|region|state|city|place|(?:specific )?location)\s*[:：]", re.IGNORECASE)

# in both scripts: semicolons as its prompts ask, commas where there is none (`split_new` of its names reward)
_SEPARATORS: Final = {True: re.compile("[;；]"), False: re.compile("[,，]")}


class GeoAgentDialect(TextDialect):
    """One greedy turn of at most 2,048 tokens; 0.7 in a fan-out, rollout 0 stays greedy."""

    name = "geoagent"
    system = (
        "You are an expert in locating photos. Answer with one JSON object and nothing else:\n"
        '{"ChainOfThought": {'
        + ", ".join(f'"{level}": {_LEVEL_EXAMPLE}' for level in LEVELS)
        + f'}}, "FinalAnswer": "{_PLACEHOLDERS}"}}'
    )
    question = "Where was this photo taken? Go from the country to the region to the exact place."
    own_limits = Limits(max_turns=2, max_tool_calls=0, max_tokens=4096)
    own_turn_tokens: ClassVar[int] = 2048
    own_pictures = PictureRules(photo=_RESIZE_RULE, crop=_RESIZE_RULE)
    own_single_sampling = SamplingSettings()
    output_demand = "Write the JSON object with ChainOfThought and FinalAnswer."
    answer_demand = "Write the JSON object now."

    def as_released(self, settings: DialectSettings) -> TextDialect:
        """One turn, read as the released rewards read it. The texts are those of this class until files are given."""
        return _WithOwnPrompt()

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """The first `<answer>`, else the `FinalAnswer` of the JSON chain: of the reply, else of the thought. Calls are
        not read.
        """
        thought, reply = split_thought(uncut(completion.text, completion))
        chains = [value for part in (reply, thought) for value in json_objects(part)]
        chain = next((value for value in chains if _levels(value) or _final_answer(value)), {})
        tagged = [tag for part in (reply, thought) for tag in answer_tags(part) if not any(json_objects(tag))]
        final = tagged[0] if tagged else _final_answer(chain)
        units = [_name_in(unit) for unit in _SEPARATORS[_SEPARATORS[True].search(final) is not None].split(final)]
        if not any(units):
            return ParsedTurn(problem=self._problem(completion))
        return _answer_turn([*units, "", "", ""][:3], chain, turn)


class _WithOwnPrompt(ReleasedGeoAgent):
    """The released loop, asked in the project's own words where the user supplies none."""

    system = GeoAgentDialect.system
    question = GeoAgentDialect.question


def _answer_turn(units: list[str], chain: dict[str, Any], turn: int) -> ParsedTurn:
    country, region, place = units
    level = Level.CITY if place else Level.REGION if region else Level.COUNTRY
    answer = StatedAnswer(
        point=None,
        level=level,
        country=country,
        region=region,
        place=place,
        confidence=_confidence(chain),
        reasoning=reasoning_text(chain),
        claims=_claims(chain),
    )
    queries = [", ".join(part for part in units[:n][::-1] if part) for n in (3, 2, 1)]
    unique = list(dict.fromkeys(query for query in queries if query))
    lookups = (
        ToolCall(id=f"locate_{turn}_{i}", name="geocode", arguments={"address": query[:200]})
        for i, query in enumerate(unique)
    )
    return ParsedTurn(answer=answer, lookups=tuple(lookups))


def _name_in(unit: str) -> str:
    return known_name(_LEVEL_LABEL.sub("", unit.strip(_MARKUP_CHARACTERS)).strip(_MARKUP_CHARACTERS))


def _final_answer(value: dict[str, Any]) -> str:
    """`FinalAnswer` of an object or, misplaced by a brace, of its chain; empty for the words of the prompt."""
    chain = value.get("ChainOfThought")
    final = value.get("FinalAnswer", chain.get("FinalAnswer") if isinstance(chain, dict) else None)
    return final if isinstance(final, str) and final != _PLACEHOLDERS else ""


def _levels(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The levels of a chain of thought that are there, under `ChainOfThought` or bare."""
    chain = value.get("ChainOfThought", value)
    if not isinstance(chain, dict):
        return {}
    return {name: chain[name] for name in LEVELS if isinstance(chain.get(name), dict)}


def bare_reasoning(text: str) -> str:
    """Clues and reasoning of every level without conclusions; empty when the text has no such chain."""
    chain = next((value for value in json_objects(text) if _levels(value)), {})
    lines = []
    for level in _levels(chain).values():
        lines += [*map(_text, _list(level.get("Clues"))), _text(level.get("Reasoning"))]
    return "\n".join(line for line in lines if line)


def reasoning_text(chain: dict[str, Any]) -> str:
    """Level by level: the reasoning and the conclusion, with how uncertain the model says it is."""
    lines = []
    for name, level in _levels(chain).items():
        unsure = f" (uncertainty: {_text(level.get('Uncertainty'))})" if level.get("Uncertainty") else ""
        lines.append(f"{name}: {_text(level.get('Reasoning'))} → {_text(level.get('Conclusion'))}{unsure}")
    return "\n".join(lines)[:4000]


def _claims(chain: dict[str, Any]) -> tuple[Claim, ...]:
    clues = [clue for level in _levels(chain).values() for clue in _list(level.get("Clues"))]
    return tuple(Claim(text=_text(clue)[:500]) for clue in dict.fromkeys(map(_text, clues)) if clue)[:32]


def _confidence(chain: dict[str, Any]) -> float | None:
    """One minus the uncertainty of the finest level that states one, in words or as a share."""
    for level in reversed(list(_levels(chain).values())):
        stated = _text(level.get("Uncertainty")).strip().lower()
        word = next((value for name, value in _CONFIDENCE_BY_UNCERTAINTY.items() if stated.startswith(name)), None)
        if word is not None:
            return word
        share = stated.rstrip("%")
        if share.replace(".", "", 1).isdigit():
            value = float(share) / (100.0 if stated.endswith("%") or float(share) > 1.0 else 1.0)
            return min(1.0, max(0.0, 1.0 - value))
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
