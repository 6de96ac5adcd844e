"""Answers in words: "Country, City, lat, lon" on one line, or one `Label: value` a line. Tolerant of form only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tts.dialects.coordinate_parser import point_from, point_in
from tts.dialects.json_answer_parser import answer_from_json, json_objects
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Level

_OPEN_TAG = re.compile(r"<answer>", re.IGNORECASE)
_CLOSE_TAG = re.compile(r"</answer>", re.IGNORECASE)
_LINE = re.compile(r"^[\W\d_]*([^\W\d_][\w ()/&.,°]{0,60}?)[*_`\"']{0,3}\s*[:：=]\s*(.*)$")
_LINE_BREAK = re.compile(
    r"<br ?/?>|[;；]\s*+(?=[A-Za-z ]{3,30}\s*[:：])"
    r"|(?<!lat)(?<!latitude)[,，:：]\s*+(?=[*_]{0,3}(?:country|city|region|state|lat(?:itude)?|long?(?:gitude)?|lng|纬度|经度)[*_]{0,3}\s*[:：=])",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(r"(?:(?:final )?answer|country|city)\s*[:：]\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?°?")
_UNKNOWN_WORDS = {
    "unknown", "n/a", "na", "none", "null", "not known", "undetermined", "uncertain", "cannot be determined",
    "not available", "?", "-", "未知", "不明",
}  # fmt: skip
_LABELS = {
    "country": "country", "nation": "country", "country name": "country",
    "city": "city", "town": "city", "city town": "city", "city name": "city",
    "region": "region", "state": "region", "province": "region", "place": "place",
    "latitude": "lat", "lat": "lat", "longitude": "lon", "lon": "lon", "lng": "lon", "long": "lon",
    "coordinates": "point", "coordinate": "point", "gps": "point", "location": "location",
    "lat lon": "point", "lat long": "point", "lat lng": "point", "latitude longitude": "point",
    "latitude and longitude": "point", "coordinates lat lon": "point", "coordinates latitude longitude": "point",
    "国家": "country", "城市": "city", "纬度": "lat", "经度": "lon", "坐标": "point", "估计坐标": "point",
    "國家": "country", "緯度": "lat", "經度": "lon", "座標": "point",
    "国": "country", "都市": "city", "経度": "lon",
    "land": "country", "stadt": "city", "breitengrad": "lat", "längengrad": "lon", "koordinaten": "point",
    "país": "country", "ciudad": "city", "latitud": "lat", "longitud": "lon", "coordenadas": "point",
    "pays": "country", "ville": "city", "coordonnées": "point",
}  # fmt: skip
_BEFORE_LABELS = {"estimated", "approximate", "final", "predicted", "gps", "geographic"}
_AFTER_LABELS = {"decimal", "degrees", "°", "wgs84"}


def answer_tags(text: str) -> list[str]:
    """What stands inside `<answer>` tags, in order; an unclosed last tag counts, one before it is only spoken of."""
    pieces = [_CLOSE_TAG.split(piece, maxsplit=1) for piece in _OPEN_TAG.split(text)[1:]]
    while len(pieces) > 1 and not pieces[-1][0].strip():  # an opening tag in the place of a closing one
        pieces.pop()
    return [body.strip() for i, (body, *closed) in enumerate(pieces) if closed or i == len(pieces) - 1]


def answer_in_words(text: str) -> StatedAnswer | None:
    """The answer of one block: JSON, labelled lines, or one line of four parts. None when it states no point."""
    if any(json_objects(text)):
        return answer_from_json(text)
    labelled = labelled_answer(text)
    if labelled is not None and (labelled.country or labelled.city):
        return labelled
    return _parse_one_line(text) or labelled


def labels_in(text: str) -> dict[str, str]:
    """Known labels and their values, which may stand on the next line; the last of a kind counts.

    A `point` is only there where it is one, or where nothing else says where the place is.
    """
    found = dict(_values_in(text))
    location = found.pop("location", None)
    if location is not None and "point" not in found:
        found["point"] = location
    if "lat" in found and "point" in found and point_in(found["point"]) is None:
        del found["point"]
    return found


def states_several(text: str) -> bool:
    """Whether labels say different coordinates: candidates, among which nothing chooses."""
    values = set(_values_in(text))
    return any(sum(name == kind for name, _ in values) > 1 for kind in ("lat", "lon", "point"))


def _values_in(text: str) -> Iterator[tuple[str, str]]:
    """Each known label with its value, in order."""
    open_label: str | None = None
    for line in _LINE_BREAK.sub("\n", text).splitlines():
        match = _LINE.match(_row_as_line(line))
        name = _label_name(match[1]) if match is not None else open_label
        value = _value(line if match is None else match[2])
        if name is not None and value:
            yield name, value
        if value or match is not None:
            open_label = name if match is not None and not value else None


def _row_as_line(line: str) -> str:
    """A row of a table with two columns as `label: value`."""
    cells = line.strip().strip("|").split("|") if line.lstrip().startswith("|") else ()
    return ": ".join(cell.strip() for cell in cells) if len(cells) == 2 else line


def _label_name(label: str) -> str | None:
    words = re.sub(r"[()/,&]", " ", label.lower()).split()
    while len(words) > 1 and words[0] in _BEFORE_LABELS:
        words.pop(0)
    while len(words) > 1 and words[-1] in _AFTER_LABELS:
        words.pop()
    return _LABELS.get(" ".join(words))


def _value(written: str) -> str:
    """Without markup; quotes only where it begins with one, as they may be seconds."""
    plain = written.strip("*_` \t,;，；。")
    return plain.strip("\"'").strip() if plain.startswith(('"', "'")) else plain


def known_name(value: str | None) -> str:
    """A name, or empty when it says that there is none."""
    plain = (value or "").strip().strip(".")
    is_unknown = all(part.strip() in _UNKNOWN_WORDS for part in plain.lower().strip("()[]").split(","))
    return "" if is_unknown else plain[:300]


def labelled_statement(country: str, city: str, point: LatLon | None, **more: Any) -> StatedAnswer:
    """A hypothesis at the level that is filled in."""
    level = Level.POINT if point else Level.CITY if city else Level.COUNTRY if country else Level.NONE
    return StatedAnswer(point=point, level=level, country=country, city=city, **more)


def statement_of_labels(labels: dict[str, str], point: LatLon | None) -> StatedAnswer:
    """The same of the values of labels."""
    country, city, region = (known_name(labels.get(name)) for name in ("country", "city", "region"))
    return labelled_statement(country, city, point, region=region)


def labelled_answer(text: str) -> StatedAnswer | None:
    """The answer of `Label: value` lines; None when they state no point, or several."""
    if states_several(text):
        return None
    labels = labels_in(text)
    point = point_in(labels["point"]) if "point" in labels else point_from(labels.get("lat"), labels.get("lon"))
    return None if point is None else statement_of_labels(labels, point)


def _parse_one_line(text: str) -> StatedAnswer | None:
    """`Country, City, lat, lon`; the city may hold commas, the country may not."""
    lines = [line for line in text.replace("，", ",").splitlines() if line.count(",") >= 2]
    for line in reversed(lines):
        country, *city, lat, lon = (part.strip().strip("*`\"'") for part in line.strip().strip("()[]").split(","))
        point = point_from(lat.lstrip("(["), lon)
        names = [_LEAD_IN.sub("", name, count=1) for name in (country, *city)]
        if point is not None and names[0] and not re.search(r"\d", country) and not _has_more_numbers(city, lat, lon):
            return labelled_statement(known_name(names[0]), known_name(", ".join(names[1:])), point)
    return None


def _has_more_numbers(city: list[str], lat: str, lon: str) -> bool:
    """Whether these are four numbers, or two with decimal commas. A whole one before two with points is a house's."""
    numbers = [part for part in city if _NUMBER.fullmatch(part)]
    return bool(numbers) and ("." in "".join(numbers) or "." not in lat or "." not in lon)
