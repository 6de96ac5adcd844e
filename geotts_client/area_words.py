"""Parses areas that are written as text: country codes (`IT,FR`), a circle (`lat,lon,km`), a rectangle (`bbox:…`).

Names of countries are not parsed here.
"""

from __future__ import annotations

import re

from geotts_client.area import Area, BBox, Circle, Countries
from geotts_client.latlon import LatLon

_BOX_PREFIX = "bbox:"
_COUNTRY_CODE = re.compile(r"[A-Za-z]{2}")


def area_of(text: str) -> Area:
    """Parse a rectangle, a circle, or countries by their ISO 3166-1 alpha-2 codes. Numbers are degrees and km.

    Args:
        text: `bbox:south,west,north,east`, `lat,lon,km`, or codes in either case with commas between them.

    Returns:
        A rectangle or a circle if the text has numbers, else the countries, in the order of the text and in upper case.

    Raises:
        ValueError: the text is none of these, and the message has the three forms; or a number is out of range.
    """
    measured = measured_area(text)
    if measured is not None:
        return measured
    codes = [code.strip() for code in text.split(",")]
    if not all(_COUNTRY_CODE.fullmatch(code) for code in codes):
        raise ValueError(
            f"{text[:100]!r} is not an area: write ISO codes such as 'IT,FR' (or Countries(codes=('IT', 'FR'))), "
            "'lat,lon,km', or 'bbox:south,west,north,east'"
        )
    return Countries(codes=tuple(code.upper() for code in codes))


def measured_area(text: str) -> BBox | Circle | None:
    """Parse a circle or a rectangle.

    Args:
        text: `lat,lon,km` or `bbox:south,west,north,east`, in degrees and km.

    Returns:
        The area; None if the text is neither, such as country codes or the name of a place.

    Raises:
        ValueError: numbers are missing or out of range.
    """
    is_box = text.strip().lower().startswith(_BOX_PREFIX)
    numbers = _numbers_in(text.strip()[len(_BOX_PREFIX) :] if is_box else text)
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


def _numbers_in(text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None
