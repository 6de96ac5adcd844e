"""An area as people write it: `IT, FR` or `Italy` · `41.9, 12.5, 200` (lat, lon, km) · `bbox: 36, 6, 47, 19`."""

from __future__ import annotations

from pydantic import ValidationError

from tts.domain.geo import Area, BBox, Circle, Countries, LatLon
from tts.geodata import countries

WAYS = "IT,FR · lat,lon,km · bbox:south,west,north,east"
_BOX = "bbox:"


def area_in_words(text: str, known: countries.Countries) -> Area:
    """Countries by name (in any of `NAME_LOCALES`) or ISO code, a circle, or a rectangle; numbers are degrees and km.

    Raises ValueError, which says what is wrong.
    """
    try:
        return _measured(text) or Countries(codes=tuple(_code(name.strip(), known) for name in text.split(",")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{text!r} is not an area: {where + ': ' if where else ''}{first['msg']}") from error


def _measured(text: str) -> Area | None:
    """A circle or a rectangle; None for what is neither."""
    is_box = text.strip().lower().startswith(_BOX)
    numbers = _numbers(text.strip()[len(_BOX) :] if is_box else text)
    if is_box and (numbers is None or len(numbers) != 4):
        raise ValueError(f"{text!r} is not an area: write bbox:south,west,north,east in degrees")
    if numbers is None:
        return None
    if is_box:
        south, west, north, east = numbers
        return BBox(south=south, west=west, north=north, east=east)
    if len(numbers) != 3:
        raise ValueError(f"{text!r} is not an area: write lat,lon,km")
    lat, lon, km = numbers
    return Circle(centre=LatLon(lat=lat, lon=lon), radius_km=km)


def _numbers(text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def _code(name: str, known: countries.Countries) -> str:
    country = known.find(name)
    if country is None:
        raise ValueError(f"{name!r} is no country I know; use its name or ISO code")
    return country.code
