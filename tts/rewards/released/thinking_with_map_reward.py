"""Thinking with Map: the reader and the staircase of its tables, and the reader of its verifier.

github.com/AMAP-ML/Thinking-with-Map, commit c39032626e99da60cd87a57d16f5869ac08ac867: `reward_score/localization.py`
and `parallel_tts/verifier_test_multi.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tts.domain.text_between_marks import widest_object
from tts.rewards.papers.thinking_with_map_reward import distance_reward
from tts.rewards.released.distances import geodesic_km, loose_position

_BRACE = re.compile(r"[{}]")
_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")
_KEYS = ("lat", "lon", "city", "country")
_THRESHOLDS_KM = (("500m", 0.5), ("2km", 2.0), ("10km", 10.0), ("25km", 25.0), ("200km", 200.0), ("750km", 750.0))


class Reading(NamedTuple):
    """Four fields with the types that the text gave them; None where there is nothing."""

    lat: Any = None
    lon: Any = None
    city: Any = None
    country: Any = None

    @property
    def position(self) -> tuple[float, float] | None:
        """(lat, lon) in degrees, or None when either is missing or no position."""
        return None if self.lat is None or self.lon is None else loose_position(self.lat, self.lon)


class ScoredReading(NamedTuple):
    """`score` in [0, 1]; `within` says 1.0 or 0 for each threshold."""

    reading: Reading
    score: float
    within: dict[str, float]


def read_answer(text: str) -> Reading:
    """The first outermost brace-balanced piece that is JSON and has all four keys.

    Braces are counted without regard to strings. NaN, infinities, large integers and lone surrogates are JSON here.
    """
    value = first_object(text)
    return Reading() if value is None else Reading(*(value[key] for key in _KEYS))


def first_object(text: str) -> dict[str, Any] | None:
    """The object that `read_answer` reads, whatever its values; None when there is none."""
    for piece in _balanced_pieces(text):
        if '"' not in piece:  # without a quote there is no key in it
            continue
        value = _json_object(piece)
        if value is not None and all(key in value for key in _KEYS):
            return value
    return None


def read_verdict(text: str) -> Reading:
    """The verifier's answer: JSON from the first brace to the last, else each field by a pattern of its own."""
    if (found := widest_object(text)) is not None and (value := _json_object(found)) is not None:
        try:
            lat, lon = (None if value.get(key) is None else float(value[key]) for key in ("lat", "lon"))
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            return Reading(lat, lon, value.get("city"), value.get("country"))
    return Reading(_field_number(text, "lat"), _field_number(text, "lon"), *(_field_text(text, k) for k in _KEYS[2:]))


def score(reading: Reading, truth: Mapping[str, Any]) -> ScoredReading:
    """The staircase over the geodesic to `truth` (lat and lon in degrees); no position scores 0."""
    guess, true = reading.position, loose_position(truth["lat"], truth["lon"])
    away_km = None if guess is None or true is None else geodesic_km(guess, true)
    within = {f"acc_{name}": float(away_km is not None and away_km < limit) for name, limit in _THRESHOLDS_KM}
    return ScoredReading(reading, distance_reward(away_km), within)


def _balanced_pieces(text: str) -> Iterable[str]:
    """Outermost brace-balanced pieces, in order. Where no brace is nested or stray, one regex pass finds them."""
    flat = _FLAT_OBJECT.findall(text)
    if len(flat) == text.count("{") == text.count("}"):
        return flat
    return _pieces_by_depth(text)


def _pieces_by_depth(text: str) -> Iterator[str]:
    depth = start = 0
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            start = brace.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield text[start : brace.end()]


def _json_object(piece: str) -> dict[str, Any] | None:
    try:
        value = json.loads(piece)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _field_number(text: str, key: str) -> float | None:
    found = re.search(rf'"{key}"\s*:\s*([-+]?\d+(?:\.\d+)?)', text)
    return None if found is None else float(found[1])


def _field_text(text: str, key: str) -> str | None:
    found = re.search(rf'"{key}"\s*:\s*"([^"]*)"', text)
    return None if found is None else found[1]
