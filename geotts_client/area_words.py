"""An area as people write it, as far as no names of countries are needed: `IT,FR` · `lat,lon,km` · `bbox:…`."""

from __future__ import annotations

import re

from geotts_client.area import Area, BBox, Circle, Countries
from geotts_client.latlon import LatLon

_BOX = "bbox:"
_CODE = re.compile(r"[A-Za-z]{2}")


def area_of(text: str) -> Area:
    """A rectangle, a circle, or countries by their ISO 3166-1 alpha-2 codes; numbers are degrees and km.

    Raises ValueError, which says how to write one.
    """
    measured = measured_area(text)
    if measured is not None:
        return measured
    codes = [code.strip() for code in text.split(",")]
    if not all(_CODE.fullmatch(code) for code in codes):
        raise ValueError(
            f"{text[:100]!r} is not an area: write ISO codes such as 'IT,FR' (or Countries(codes=('IT', 'FR'))), "
            "'lat,lon,km', or 'bbox:south,west,north,east'"
        )
    return Countries(codes=tuple(code.upper() for code in codes))


def measured_area(text: str) -> BBox | Circle | None:
    """A circle or a rectangle; None for what is neither. Raises ValueError for half of one."""
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
