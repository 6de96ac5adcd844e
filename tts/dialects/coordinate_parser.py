"""Parses latitudes and longitudes as people and models write them: signed, with hemispheres, in degrees and minutes.

One text has one reading or none. What contradicts itself (a sign against its hemisphere, minutes above 59, a latitude
with an E) is no coordinate.
"""

from __future__ import annotations

import math
import re
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
        "（": "(", "）": ")", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
        **{chr(0xFF10 + i): str(i) for i in range(10)},
    }
)  # fmt: skip
_HEMISPHERE = r"north|south|east|west|[nsew]|[北南东東西]纬?经?緯?經?"
_NUMBER = r"[+-]?\d{1,3}(?:\.\d{1,18})?"
_DEGREES_MINUTES_SECONDS = (  # blanks are single
    r" ?(?:°|deg(?:rees)?\.?|d)? ?"
    r"(?:(?P<m>\d{1,2}(?:\.\d+)?) ?(?:'(?!')|min\.?|m) ?)?"
    r"(?:(?P<s>\d{1,2}(?:\.\d+)?) ?(?:\"|''|sec\.?|s(?!\w)) ?)?"
)
_COORDINATE = re.compile(
    rf" ?(?P<before>{_HEMISPHERE})? ?(?P<d>{_NUMBER}){_DEGREES_MINUTES_SECONDS} ?(?P<after>{_HEMISPHERE})? ?",
    re.IGNORECASE,
)
_DECIMAL_COMMA = re.compile(r" ?([+-]?\d{1,3}),(\d{2,18}) ?°? ?")


def degrees(value: Any, axis: Axis) -> float | None:
    """One coordinate in signed degrees, from a number or a text; None when there is not exactly one in range."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _value_in_range(float(value), axis)
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = " ".join(value.translate(PLAIN_CHARACTERS).split())
    if (comma := _DECIMAL_COMMA.fullmatch(text)) is not None:
        text = f"{comma[1]}.{comma[2]}"
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
    plain = " ".join(text[:200].translate(PLAIN_CHARACTERS).split()).strip("()[] ")
    for separator in (",", ";", "/", "|"):
        if plain.count(separator) == 1:
            return _point_in_either_order(*plain.split(separator))
    for split in re.finditer(" ", plain):
        if (found := _point_in_either_order(plain[: split.start()], plain[split.end() :])) is not None:
            return found
    return None


def _point_in_either_order(first: str, second: str) -> LatLon | None:
    if (found := point_from(first, second)) is not None:
        return found
    turned = point_from(second, first)
    return turned if turned is not None and _names_axis(first, "lon") and _names_axis(second, "lat") else None


def _names_axis(text: str, axis: Axis) -> bool:
    """Whether the text itself says which axis it is on."""
    found = _COORDINATE.fullmatch(text)
    hemisphere = _hemisphere(found["before"] or found["after"]) if found else ""
    return hemisphere in _HEMISPHERES[axis]


def _signed_value(found: re.Match[str], axis: Axis) -> float | None:
    """Value of a match, hemisphere and sign reconciled; None when they contradict each other or the axis."""
    number = float(found["d"])
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


def _hemisphere(named: str | None) -> str:
    return (named or "").lower().rstrip("纬经緯經")


def _value_in_range(value: float, axis: Axis) -> float | None:
    return value if math.isfinite(value) and abs(value) <= _MAX_DEGREES[axis] else None
