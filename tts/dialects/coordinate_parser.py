"""Parses latitudes and longitudes as people and models write them: signed, with hemispheres, in degrees and minutes.

One text has one reading or none. What contradicts itself (a sign against its hemisphere, minutes above 59, a latitude
with an E) is no coordinate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from tts.domain.geo import LatLon

Axis = Literal["lat", "lon"]
_MAX_DEGREES: dict[Axis, float] = {"lat": 90.0, "lon": 180.0}
_HEMISPHERES: dict[Axis, dict[str, int]] = {
    "lat": {"n": 1, "s": -1, "north": 1, "south": -1, "北": 1, "南": -1},
    "lon": {"e": 1, "w": -1, "east": 1, "west": -1, "东": 1, "東": 1, "西": -1},
}
PLAIN_CHARACTERS = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "＋": "+", "－": "-", "．": ".",
        "，": ",", "：": ":", "；": ";",
        "º": "°", "˚": "°", "′": "'", "’": "'", "‘": "'", "ʹ": "'", "´": "'", "″": '"', "”": '"', "“": '"', "ʺ": '"',
        "度": "°", "分": "'", "秒": '"', "（": "(", "）": ")", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
        **{chr(0xFF10 + i): str(i) for i in range(10)},
    }
)  # fmt: skip
_HEMISPHERE = r"north|south|east|west|[nsew]|[北南东東西]纬?经?緯?經?"
_NUMBER = r"[+-]?\d{1,3}(?:\.\d{1,18}|,\d{2,18})?"
_DEGREES_MINUTES_SECONDS = (  # blanks are single
    r" ?(?:°|deg(?:rees)?\.?|d)? ?"
    r"(?:(?P<m>\d{1,2}(?:\.\d+)?) ?(?:'(?!')|min\.?|m) ?)?"
    r"(?:(?P<s>\d{1,2}(?:\.\d+)?) ?(?:\"|''|sec\.?|s(?!\w)) ?)?"
)
_COORDINATE = re.compile(
    rf" ?(?P<before>{_HEMISPHERE})? ?(?P<d>{_NUMBER}){_DEGREES_MINUTES_SECONDS} ?(?P<after>{_HEMISPHERE})? ?",
    re.IGNORECASE,
)
_AXIS_NAME = re.compile(
    r"(?:(?P<lat>lat(?:itude)?)|(?P<lon>lon(?:gitude)?|long?|lng))(?![a-z])\.? ?[:=]? ?", re.IGNORECASE
)
_LATEX_DEGREE = re.compile(r"\^? ?\{?\\(?:circ|degree)\}?")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm) ?\{([^{}]{0,20})\}")
_MARKUP = re.compile(r"[*`$]|\\[(),;]")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_MAX_CHARS = 200
_SEPARATORS = (";", "/", "|", ", ", ",", " and ")


def degrees(value: Any, axis: Axis) -> float | None:
    """One coordinate in signed degrees, from a number or a text; None when there is not exactly one in range."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _value_in_range(float(value), axis)
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = _plain(value)
    if (name := _AXIS_NAME.match(text)) is not None and name[axis]:
        text = text[name.end() :]
    found = _COORDINATE.fullmatch(text)
    return None if found is None else _signed_value(found, axis)


def point_from(lat: Any, lon: Any) -> LatLon | None:
    """A point from two separate values; None when either is missing, ambiguous or out of range."""
    found_lat, found_lon = degrees(lat, "lat"), degrees(lon, "lon")
    return None if found_lat is None or found_lon is None else LatLon(lat=found_lat, lon=found_lon)


def point_in(text: str) -> LatLon | None:
    """A latitude and a longitude, in this order unless hemispheres say otherwise, separated by a comma or so.

    The text must hold nothing else but brackets: "(48.85, 2.35)", "48°51′24″N 2°21′07″E", "N 48.85; E 2.35".
    """
    return _first_point(_pairs_in(text))


def point_naming_axes(text: str) -> LatLon | None:
    """The same where both numbers say which axis they are on; None for two mere numbers."""
    return _first_point(
        pair for pair in _pairs_in(text) if all(_names_axis(part, "lat") or _names_axis(part, "lon") for part in pair)
    )


def _first_point(pairs: Iterable[tuple[str, str]]) -> LatLon | None:
    points = (_point_in_either_order(first, second) for first, second in pairs)
    return next((point for point in points if point is not None), None)


def _pairs_in(text: str) -> Iterator[tuple[str, str]]:
    """The two parts on the sides of the one separator, or of each blank where there is none."""
    plain = _plain(text).strip("()[] ") if len(text) <= _MAX_CHARS else ""
    for separator in _SEPARATORS:
        if plain.count(separator) == 1:
            first, _, second = plain.partition(separator)
            yield first, second
            return
    for blank in re.finditer(" ", plain):
        yield plain[: blank.start()], plain[blank.end() :]


def _point_in_either_order(first: str, second: str) -> LatLon | None:
    if (found := point_from(first, second)) is not None:
        return found
    turned = point_from(second, first)
    return turned if turned is not None and _names_axis(first, "lon") and _names_axis(second, "lat") else None


def _names_axis(text: str, axis: Axis) -> bool:
    """Whether the text itself says which axis it is on."""
    if (name := _AXIS_NAME.match(text)) is not None:
        return name[axis] is not None
    found = _COORDINATE.fullmatch(text)
    hemisphere = _hemisphere(found["before"] or found["after"]) if found else ""
    return hemisphere in _HEMISPHERES[axis]


def _signed_value(found: re.Match[str], axis: Axis) -> float | None:
    """Value of a match, hemisphere and sign reconciled; None when they contradict each other or the axis."""
    number = float(found["d"].replace(",", "."))
    minutes, seconds = float(found["m"] or 0.0), float(found["s"] or 0.0)
    if minutes >= 60.0 or seconds >= 60.0 or (found["before"] and found["after"]):
        return None
    if (found["m"] or found["s"]) and number != math.trunc(number):
        return None
    size = abs(number) + minutes / 60.0 + seconds / 3600.0
    negative = found["d"].startswith("-")
    named = found["before"] or found["after"]
    if named:
        sign = _HEMISPHERES[axis].get(_hemisphere(named))
        if sign is None or (negative and sign > 0):
            return None
        negative = sign < 0
    return _value_in_range(-size if negative else size, axis)


def _plain(text: str) -> str:
    """With plain signs and single blanks, without the markup and the full stop that models put around numbers."""
    text = _LINK.sub(r"\1", text.translate(PLAIN_CHARACTERS))
    text = _LATEX_TEXT.sub(r"\1", _LATEX_DEGREE.sub("°", text))
    return " ".join(_MARKUP.sub("", text).split()).removesuffix(".")


def _hemisphere(named: str | None) -> str:
    return (named or "").lower().rstrip("纬经緯經")


def _value_in_range(value: float, axis: Axis) -> float | None:
    return value if math.isfinite(value) and abs(value) <= _MAX_DEGREES[axis] else None
