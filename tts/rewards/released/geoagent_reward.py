"""GeoAgent: format, names, distance after geocoding, and consistency of reasoning and conclusions.

github.com/HVision-NKU/GeoAgent, commit 6e25f0866dce438e18ada3727536a1cc5a00e168: `swift/plugin/orm.py`. The embedding
model and the geocoder are the caller's; `geoagent_chain.py` has the second reader, `geoagent_answer.py`
what is read in an output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from tts.domain.text_between_marks import between_tags
from tts.rewards.released.distances import haversine_km
from tts.rewards.released.geoagent_answer import answer_for_names, names_in

_THOUGHT_THEN_ANSWER = re.compile(r"</think>\s*<answer>")
_STRICT_ANSWER = between_tags("answer")
_PART_COUNTS = (2, 3)
_REACH_KM = 2000.0
_WEIGHTS = (0.1, 0.6, 0.3)
_MIN_SIMILARITIES = (0.7, 0.5)
_TRAINING_WEIGHTS = (1.0, 1.0, 1.0, 0.5, 1.5)

Similarity = Callable[[str, str], float]
"""How alike two names are; clipped to [0, 1] as the authors' embedding service does."""
Position = tuple[float, float]
"""(lat, lon) in degrees."""


class NameScore(NamedTuple):
    """`value` in [0, 1] and the pairs that were compared."""

    value: float
    compared: tuple[tuple[str, str], ...]


def format_reward(text: str) -> float:
    """1 when a thought is followed by an answer and nothing stands around them, else 0."""
    wrapped = text.startswith("<think>") and text.endswith("</answer>")
    return float(
        wrapped and _THOUGHT_THEN_ANSWER.search(text, len("<think>"), len(text) - len("</answer>")) is not None
    )


def geo_format_reward(text: str) -> float:
    """1 when the first answer has two or three parts between plain semicolons, else 0."""
    found = _STRICT_ANSWER.search(text.strip())
    parts = [] if found is None else [part for part in found.text.strip().split(";") if part.strip()]
    return float(_PART_COUNTS[0] <= len(parts) <= _PART_COUNTS[1])


def names_reward(text: str, solution: str, similarity: Similarity) -> NameScore:
    """0.1 country + 0.6 region + 0.3 place; a level is compared only when the one above is right (0.7, then 0.5)."""
    guess, true = names_in(answer_for_names(text)), names_in(answer_for_names(solution))
    compared: list[tuple[str, str]] = []
    value = 0.0
    for level, weight in enumerate(_WEIGHTS):
        if not guess[level] or not true[level]:
            break
        alike = clip_similarity(similarity(guess[level], true[level]))
        compared.append((guess[level], true[level]))
        value += weight * alike
        if level < len(_MIN_SIMILARITIES) and alike < _MIN_SIMILARITIES[level]:
            break
    return NameScore(value, tuple(compared))


def clip_similarity(cosine: float) -> float:
    """A similarity as the authors' embedding service reports it, in [0, 1]."""
    return min(1.0, max(0.0, cosine))


def spatial_reward(distance_km: float | None) -> float:
    """exp(−10 d / 2000 km), and 0 from 2000 km on or without a distance."""
    if distance_km is None or distance_km >= _REACH_KM:
        return 0.0
    return math.exp(-10.0 * (distance_km / _REACH_KM))


def spatial_reward_between(guess: Position | None, true: Position | None) -> float:
    """The spatial reward of two geocoded answers; 0 when either was not found."""
    return 0.0 if guess is None or true is None else spatial_reward(haversine_km(*guess, *true))


def total_reward(*, form: float, geo_form: float, names: float, consistency: float, spatial: float) -> float:
    """The weighted sum of training, at most 5 (`tools/train_grpo.sh`: 1, 1, 1, 0.5, 1.5)."""
    terms = (form, geo_form, names, consistency, spatial)
    return sum(weight * term for weight, term in zip(_TRAINING_WEIGHTS, terms, strict=True))
