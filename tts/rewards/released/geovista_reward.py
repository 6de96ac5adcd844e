"""GeoVista: country, state and city by whole words, or as a judge says, the reward of its training, and the distance.

github.com/ekonwang/GeoVista, commit df32037178778ce7d442a276e910db7e631f3c74: `eval/utils_level_wise_eval.py`,
`eval/utils_geocode.py`, `verl/utils/reward_score/search_agent_v4.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from tts.rewards.released.distances import haversine_km

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9\s]")
_BLANKS = re.compile(r"\s+")
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL)
_EARTH_RADIUS_KM = 6371.0088
_LATITUDE_KEYS = ("lat", "latitude")
_LONGITUDE_KEYS = ("lng", "lon", "long", "longitude")


class Levels(NamedTuple):
    """Whether an answer names the country, the state and the city; a finer level carries the coarser ones."""

    country: bool
    state: bool
    city: bool


def names_by_rule(text: str, truth: Mapping[str, Any]) -> Levels:
    """Levels whose name stands in the text as whole words, without accents, case and punctuation.

    `truth` has `country`, `province_or_state` or `state`, and `city`; a missing level is never right by itself.
    """
    plain = _plain_text(text)
    state = truth.get("province_or_state") or truth.get("state")
    return _complete_levels(
        *(_mentions_name(plain, _plain_text(name)) for name in (truth.get("country"), state, truth.get("city")))
    )


def names_by_judge(verdict: Mapping[str, Any]) -> Levels:
    """What a judge says in `country_correct`, `state_correct` and `city_correct`; only a JSON true counts."""
    return _complete_levels(*(verdict.get(f"{level}_correct") is True for level in Levels._fields))


def training_reward(levels: Levels) -> float:
    """1 for the right city, else 0."""
    return float(levels.city)


def place_of(text: str) -> str:
    """What stands in the last answer tag, also in one that is not closed; empty without one. It is to be looked up."""
    found = _ANSWER.findall(text)
    return found[-1].strip() if found else ""


def distance_km(here: Mapping[str, Any], there: Mapping[str, Any]) -> float:
    """Great-circle distance of two points on a sphere of 6371.0088 km.

    Args:
        here: a point in degrees, with `lat` or `latitude` and `lng`, `lon`, `long` or `longitude`; texts of numbers
            count.
        there: the other point.

    Raises:
        ValueError: a point has no latitude or no longitude, or one that is no number.
    """
    return haversine_km(*_position(here), *_position(there), radius_km=_EARTH_RADIUS_KM)


def _position(point: Mapping[str, Any]) -> tuple[float, float]:
    found = [
        next((point[key] for key in keys if point.get(key) is not None), None)
        for keys in (_LATITUDE_KEYS, _LONGITUDE_KEYS)
    ]
    if None in found:
        raise ValueError(f"no latitude or no longitude in {dict(point)}")
    return float(str(found[0])), float(str(found[1]))


def _complete_levels(country: bool, state: bool, city: bool) -> Levels:
    return Levels(country or state or city, state or city, city)


def _mentions_name(text: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _plain_text(value: Any) -> str:
    ascii_only = unicodedata.normalize("NFKD", str(value or "")).encode("ascii", "ignore").decode("ascii")
    return _BLANKS.sub(" ", _NOT_ALPHANUMERIC.sub(" ", ascii_only.lower())).strip()
