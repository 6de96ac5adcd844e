"""Two ways of reading an answer out of what a model wrote.

`paper` is the one the published tables were made with: the *first* brace-balanced object that strict JSON accepts and
that has lat, lon, city and country. Braces are counted without regard to strings, a missing quote or a trailing comma
loses the answer, and whatever is not found is wrong (Thinking with Map, evaluation script). `serving` is what a user
gets: tolerant, and the last word counts. Tolerance lifts published rows, so the two are never mixed in one table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import orjson

from tts.dialects.answers import answer_from_json
from tts.eval.fields import StatedPlace, point_from

ParserName = Literal["paper", "serving"]
_BRACE = re.compile(r"[{}]")
_FLAT = re.compile(r"\{[^{}]*\}")
_REQUIRED = ("lat", "lon", "city", "country")


def parse_paper(text: str) -> StatedPlace | None:
    """The first strict object with all four keys, or None. Null or impossible coordinates give None as well."""
    value = _first_strict_object(text)
    if value is None or (point := point_from(value["lat"], value["lon"])) is None:
        return None
    return StatedPlace(point, _name(value["country"]), _name(value["city"]))


def parse_serving(text: str) -> StatedPlace | None:
    """The last well-formed answer; None when there is none or it abstains from a point."""
    found = answer_from_json(text)
    if found is None or found.point is None:
        return None
    return StatedPlace(found.point, found.country or found.country_code, found.city)


PARSERS: dict[ParserName, Callable[[str], StatedPlace | None]] = {"paper": parse_paper, "serving": parse_serving}


def _first_strict_object(text: str) -> dict[str, Any] | None:
    for piece in _balanced(text):
        if '"' in piece and (value := _strict(piece)) is not None:  # without a quote there is no key in it
            return value
    return None


def _balanced(text: str) -> Iterable[str]:
    """Outermost brace-balanced pieces, in order. Where no brace is nested or stray, one regex pass finds them."""
    flat = _FLAT.findall(text)
    if len(flat) == text.count("{") == text.count("}"):
        return flat
    return _counted(text)


def _counted(text: str) -> Iterator[str]:
    depth = start = 0
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            start = brace.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield text[start : brace.end()]


def _strict(raw: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) and all(key in value for key in _REQUIRED) else None


def _name(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
