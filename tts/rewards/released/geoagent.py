"""GeoAgent: format, names, distance after geocoding, and consistency of reasoning and conclusions.

github.com/HVision-NKU/GeoAgent, commit 6e25f0866dce438e18ada3727536a1cc5a00e168: `swift/plugin/orm.py`. The embedding
model and the geocoder are the caller's; `chain.py` has the second reader.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tts.domain.enclosure import between_tags, widest_object
from tts.rewards.released.sphere import haversine_km

_THEN_ANSWER = re.compile(r"</think>\s*<answer>")
_ANSWER = between_tags("answer", re.IGNORECASE)
_STRICT_ANSWER = between_tags("answer")
_SEPARATOR = re.compile(r"[;；]")
_PARTS = (2, 3)
_REACH_KM = 2000.0
_WEIGHTS = (0.1, 0.6, 0.3)
_RIGHT_FROM = (0.7, 0.5)
_TRAINING_WEIGHTS = (1.0, 1.0, 1.0, 0.5, 1.5)

Similarity = Callable[[str, str], float]
"""How alike two names are; clipped to [0, 1] as the authors' embedding service does."""
Position = tuple[float, float]
Geocode = Callable[[str], Position | None]
"""(lat, lon) of an address as the model wrote it, or None."""


class Names(NamedTuple):
    """Country, region and place; empty where nothing is stated."""

    country: str
    region: str
    place: str


class NameScore(NamedTuple):
    """`value` in [0, 1] and the pairs that were compared."""

    value: float
    compared: tuple[tuple[str, str], ...]


def format_reward(text: str) -> float:
    """1 when a thought is followed by an answer and nothing stands around them, else 0."""
    wrapped = text.startswith("<think>") and text.endswith("</answer>")
    return float(wrapped and _THEN_ANSWER.search(text, len("<think>"), len(text) - len("</answer>")) is not None)


def geo_format_reward(text: str) -> float:
    """1 when the first answer has two or three parts between plain semicolons, else 0."""
    found = _STRICT_ANSWER.search(text.strip())
    parts = [] if found is None else [part for part in found.text.strip().split(";") if part.strip()]
    return float(_PARTS[0] <= len(parts) <= _PARTS[1])


def answer_for_names(text: str) -> str:
    """The first answer, else the whole text."""
    found = _ANSWER.search(text)
    return (text if found is None else found.text).strip()


def answer_for_geocoding(text: str) -> str | None:
    """The first answer, else `FinalAnswer` of the object between the first brace and the last, else None."""
    if (found := _ANSWER.search(text)) is not None:
        return found.text.strip()
    value = json_between_braces(text)
    return str(value["FinalAnswer"]).strip() if value is not None and "FinalAnswer" in value else None


def names_in(answer: str) -> Names:
    """The parts between plain or full-width semicolons; empty ones are skipped, a fourth stays with the third."""
    parts = [part.strip() for part in _SEPARATOR.split(answer) if part.strip()]
    country, region = [*parts, "", ""][:2]
    return Names(country, region, ";".join(parts[2:]))


def names_reward(text: str, solution: str, similarity: Similarity) -> NameScore:
    """0.1 country + 0.6 region + 0.3 place; a level is compared only when the one above is right (0.7, then 0.5)."""
    guess, true = names_in(answer_for_names(text)), names_in(answer_for_names(solution))
    compared: list[tuple[str, str]] = []
    value = 0.0
    for level, weight in enumerate(_WEIGHTS):
        if not guess[level] or not true[level]:
            break
        alike = clipped(similarity(guess[level], true[level]))
        compared.append((guess[level], true[level]))
        value += weight * alike
        if level < len(_RIGHT_FROM) and alike < _RIGHT_FROM[level]:
            break
    return NameScore(value, tuple(compared))


def clipped(cosine: float) -> float:
    """A similarity as the authors' embedding service reports it, in [0, 1]."""
    return min(1.0, max(0.0, cosine))


def spatial_reward(distance_km: float | None) -> float:
    """exp(−10 d / 2000 km), and 0 from 2000 km on or without a distance."""
    if distance_km is None or distance_km >= _REACH_KM:
        return 0.0
    return math.exp(-10.0 * (distance_km / _REACH_KM))


def spatial_reward_of_text(text: str, solution: str, geocode: Geocode) -> float:
    """The spatial reward of what two texts name; 0 when either names nothing or is not found."""
    guess, true = answer_for_geocoding(text), answer_for_geocoding(solution)
    if not guess or not true or (here := geocode(guess)) is None or (there := geocode(true)) is None:
        return 0.0
    return spatial_reward(haversine_km(*here, *there))


def total_reward(*, form: float, geo_form: float, names: float, consistency: float, spatial: float) -> float:
    """The weighted sum of training, at most 5 (`tools/train_grpo.sh`: 1, 1, 1, 0.5, 1.5)."""
    terms = (form, geo_form, names, consistency, spatial)
    return sum(weight * term for weight, term in zip(_TRAINING_WEIGHTS, terms, strict=True))


def json_between_braces(text: str) -> dict[str, Any] | None:
    """The JSON object from the first brace to the last, or None."""
    found = widest_object(text)
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
