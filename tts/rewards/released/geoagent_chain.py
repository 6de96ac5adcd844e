"""GeoAgent: do the stages of a chain of thought carry their conclusions? A second reader says.

For every stage the reader sees the reasoning and the conclusions of the stages before it and names its own; equal names
earn the stage's weight, damped where the reasoning is short (`ThinkAnswerConsistency`, commit in `geoagent_reward.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tts.domain.text_between_marks import between_tags
from tts.rewards.released.geoagent_answer import json_between_braces

STAGES = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")
_WEIGHTS = (0.1, 0.6, 0.3)
_REQUIRED_KEYS = ("Clues", "Reasoning", "Conclusion")
_THOUGHT = between_tags("think", re.IGNORECASE)
_SHORT_CHARS = 90
_LONG_CHARS = 200
_STEEPNESS = 8.0


class Question(NamedTuple):
    """What the second reader is asked about one stage; `earlier` holds the conclusions of the stages before."""

    stage: str
    reasoning: str
    earlier: dict[str, str]

    def message(self, request_id: str) -> str:
        """The user message as JSON text, in the form of the released request."""
        asked: dict[str, Any] = {"id": request_id, "stage": self.stage, "Reasoning": self.reasoning}
        if self.earlier:
            asked["Previous conclusion"] = self.earlier
        return json.dumps(asked, ensure_ascii=False)


def read_chain(text: str) -> Mapping[str, Mapping[str, Any]] | None:
    """The stages of the thought, or of the whole text without one; None when one or one of its fields is missing."""
    thought = _THOUGHT.search(text)
    value = json_between_braces(text if thought is None else thought.text.strip())
    chain = None if value is None else value.get("ChainOfThought")
    if not isinstance(chain, dict):
        return None
    stages = [chain.get(stage) for stage in STAGES]
    if not all(isinstance(stage, dict) and all(key in stage for key in _REQUIRED_KEYS) for stage in stages):
        return None
    return chain


def questions(chain: Mapping[str, Mapping[str, Any]]) -> tuple[Question, ...]:
    """One question for each stage, in order."""
    found = []
    for number, stage in enumerate(STAGES):
        conclusions = {name: chain[name]["Conclusion"] for name in STAGES[:number]}
        earlier = {name: str(value) for name, value in conclusions.items() if value is not None}
        found.append(Question(stage, str(chain[stage]["Reasoning"]), earlier))
    return tuple(found)


def conclusion_of(reply: str, request_id: str) -> str | None:
    """The second reader's conclusion; None when the reply is no JSON, lacks a key, or echoes another id."""
    value = json_between_braces(reply)
    if value is None or "id" not in value or "Conclusion" not in value or value["id"] != request_id:
        return None
    return str(value["Conclusion"]).strip()


def is_same_name(conclusion: Any, reread: str | None) -> bool:
    """Whether both are the same name, blanks aside. Another spelling or an alias is another name."""
    if conclusion is None or reread is None:
        return False
    return str(conclusion).strip().replace(" ", "") == reread.strip().replace(" ", "")


def length_weight(characters: int) -> float:
    """0 below 90 characters of reasoning, 1 above 200, a logistic curve through 0.5 at 145 between them."""
    if characters < _SHORT_CHARS:
        return 0.0
    if characters > _LONG_CHARS:
        return 1.0
    return 1.0 / (1.0 + math.exp(-_STEEPNESS * ((characters - _SHORT_CHARS) / (_LONG_CHARS - _SHORT_CHARS) - 0.5)))


def consistency_reward(lengths: tuple[int, int, int], agreed: tuple[bool, bool, bool]) -> float:
    """Σ weight · length weight over the stages that agree (weights 0.1, 0.6, 0.3)."""
    stages = zip(_WEIGHTS, lengths, agreed, strict=True)
    return sum(weight * length_weight(length) * agreement for weight, length, agreement in stages)


def reward_of(chain: Mapping[str, Mapping[str, Any]], reread: Sequence[str | None]) -> float:
    """The consistency of a chain with what a second reader concluded at each stage (None: it did not).

    Reasoning in a list counts by its items, as there; reasoning without a length earns nothing for the whole chain.
    """
    stages = [chain[stage] for stage in STAGES]
    try:
        lengths = [len(stage["Reasoning"]) for stage in stages]
    except TypeError:
        return 0.0
    agreed = [is_same_name(stage["Conclusion"], conclusion) for stage, conclusion in zip(stages, reread, strict=True)]
    return consistency_reward((lengths[0], lengths[1], lengths[2]), (agreed[0], agreed[1], agreed[2]))
