"""Answers in words: "Country, City, lat, lon" on one line, or one `Label: value` a line. Tolerant of form only."""

from __future__ import annotations

import re
from typing import Any

from tts.dialects.coordinate_parser import point_from, point_in
from tts.dialects.json_answer_parser import answer_from_json
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Level

_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)
_LINE = re.compile(r"^[\s>*#•\-–\d.)]*[*_`\"']{0,3}([^\W\d_][\w ()/&.]{1,40}?)[*_`\"']{0,3}\s*[:：=]\s*(.*)$")
_INLINE = re.compile(r"[;；]\s*+(?=[A-Za-z ]{3,30}\s*[:：])")
_UNKNOWN_WORDS = {
    "unknown",
    "n/a",
    "na",
    "none",
    "null",
    "not known",
    "undetermined",
    "uncertain",
    "cannot be determined",
    "?",
    "-",
}
_LABELS = {
    "country": "country", "nation": "country", "country name": "country",
    "city": "city", "town": "city", "city/town": "city", "city name": "city",
    "region": "region", "state": "region", "province": "region",
    "latitude": "lat", "lat": "lat", "longitude": "lon", "lon": "lon", "lng": "lon", "long": "lon",
    "coordinates": "point", "estimated coordinates": "point", "coordinate": "point", "location": "point",
    "estimated coordinate": "point", "gps": "point", "gps coordinates": "point", "lat lon": "point",
    "国家": "country", "城市": "city", "纬度": "lat", "经度": "lon", "坐标": "point",
}  # fmt: skip


def answer_tags(text: str) -> list[str]:
    """What stands inside `<answer>` tags, in order; an unclosed last tag counts."""
    return [found.strip() for found in _ANSWER.findall(text)]


def answer_in_words(text: str) -> StatedAnswer | None:
    """The answer of one block: labelled lines, one line of four parts, or JSON. None when it states no point."""
    return labelled_answer(text) or _parse_one_line(text) or answer_from_json(text)


def labels_in(text: str) -> dict[str, str]:
    """Known labels and their values; the last of a kind counts."""
    found: dict[str, str] = {}
    for line in _INLINE.sub("\n", text).splitlines():
        match = _LINE.match(line)
        if match is not None and (
            name := _LABELS.get(" ".join(match[1].lower().replace("(", " ").replace(")", " ").split()))
        ):
            found[name] = match[2].strip().strip("*_`\"' ,;，；").strip()
    return found


def known_name(value: str | None) -> str:
    """A name, or empty when it says that there is none."""
    plain = (value or "").strip().strip(".")
    return "" if plain.lower() in _UNKNOWN_WORDS else plain[:300]


def labelled_statement(country: str, city: str, point: LatLon | None, **more: Any) -> StatedAnswer:
    """A hypothesis at the level that is filled in."""
    level = Level.POINT if point else Level.CITY if city else Level.COUNTRY if country else Level.NONE
    return StatedAnswer(point=point, level=level, country=country, city=city, **more)


def statement_of_labels(labels: dict[str, str], point: LatLon | None) -> StatedAnswer:
    """The same of the values of labels."""
    country, city, region = (known_name(labels.get(name)) for name in ("country", "city", "region"))
    return labelled_statement(country, city, point, region=region)


def labelled_answer(text: str) -> StatedAnswer | None:
    """The answer of `Label: value` lines; None when they state no point."""
    labels = labels_in(text)
    point = point_in(labels["point"]) if "point" in labels else point_from(labels.get("lat"), labels.get("lon"))
    return None if point is None else statement_of_labels(labels, point)


def _parse_one_line(text: str) -> StatedAnswer | None:
    """`Country, City, lat, lon`; the city may hold commas, the country may not."""
    lines = [line for line in text.replace("，", ",").splitlines() if line.count(",") >= 2]
    for line in reversed(lines):
        country, *city, lat, lon = (part.strip().strip("*`\"'") for part in line.strip().strip("()[]").split(","))
        point = point_from(lat, lon)
        if point is not None and country and not any(char.isdigit() for char in country):
            return labelled_statement(known_name(country), known_name(", ".join(city)), point)
    return None
