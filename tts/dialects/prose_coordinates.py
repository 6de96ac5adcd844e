"""Finds the position that a text of sentences states: "I would say 48.8567° N, 2.3508° E", "Latitude: 48.85 …".

`coordinate_parser` reads a text that is a position and nothing else. Here numbers that are no coordinates stand around
it: a number counts only with a label, or beside another one, both with decimals, degrees or a hemisphere.
"""

from __future__ import annotations

import re

from tts.dialects.coordinate_parser import PLAIN_CHARACTERS, degrees, point_in
from tts.domain.geo import LatLon

_MAX_CHARS = 200_000
_MARKUP = str.maketrans({"*": "", "`": "", "_": " "})
_HEMISPHERE = r"(?:north|south|east|west|[nsew])(?![a-z])"
_NUMBER = (
    r"[+-]?(?<![\d.])\d{1,3}(?:\.\d{1,18}(?!\d|\.\d)|(?!\d|[.,]\d))"
    r"(?: ?(?:°|deg(?:rees)?(?![a-z]))"
    r"(?: ?\d{1,2}(?:\.\d{1,9})? ?'(?!'))?(?: ?\d{1,2}(?:\.\d{1,9})? ?(?:\"|''))?)?"
)
_DEGREES = rf"(?:{_HEMISPHERE} ?{_NUMBER}|{_NUMBER}(?: ?{_HEMISPHERE})?)"
_LABELLED = re.compile(
    r"(?<![a-z])(lat|lon|lng)(?:itude|gitude|g(?= ?[.:=~]))?(?![a-z])"  # "long" alone is an English word
    rf"\.? ?(?:[:=~]|is|of)? ?(?:(?:about|around|approximately) )?({_DEGREES})",
    re.IGNORECASE,
)
_PAIR = re.compile(rf"(?<![a-z\d.])({_DEGREES}) ?[,; ] ?({_DEGREES})", re.IGNORECASE)
_IS_COORDINATE = re.compile(r"\.\d|°|deg|[nsew]", re.IGNORECASE)


def last_point_in(text: str) -> LatLon | None:
    """The last labelled latitude with the last labelled longitude, else the last pair; None when there is neither.

    A pair is latitude and longitude in this order, unless hemispheres say otherwise. Linear time; of a text of more
    than 200,000 characters only the end counts.
    """
    plain = " ".join(text[-_MAX_CHARS:].translate(PLAIN_CHARACTERS).translate(_MARKUP).split())
    found: dict[str, str] = {found[1].lower()[:2]: found[2] for found in _LABELLED.finditer(plain)}
    lat, lon = degrees(found.get("la"), "lat"), degrees(found.get("lo", found.get("ln")), "lon")
    if lat is not None and lon is not None:
        return LatLon(lat=lat, lon=lon)
    pairs = [
        point
        for pair in _PAIR.finditer(plain)
        if all(_IS_COORDINATE.search(side) for side in pair.groups())
        if (point := point_in(f"{pair[1]};{pair[2]}")) is not None
    ]
    return pairs[-1] if pairs else None
