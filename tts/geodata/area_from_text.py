"""An area as people write it: `IT, FR` or `Italy` · `41.9, 12.5, 200` (lat, lon, km) · `bbox: 36, 6, 47, 19`."""

from __future__ import annotations

from pydantic import ValidationError

from geotts_client.area_words import measured_area
from tts.domain.geo import Area, Countries
from tts.geodata import countries

WAYS = "IT,FR · lat,lon,km · bbox:south,west,north,east"


def area_in_words(text: str, known: countries.Countries) -> Area:
    """Countries by name (in any of `NAME_LOCALES`) or ISO code, a circle, or a rectangle; numbers are degrees and km.

    Raises ValueError, which says what is wrong.
    """
    try:
        return measured_area(text) or countries_in_words(text, known)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{text!r} is not an area: {where + ': ' if where else ''}{first['msg']}") from error


def countries_in_words(text: str, known: countries.Countries) -> Countries:
    """Countries by name or ISO code, separated by commas. Raises ValueError if a name is that of no country."""
    return Countries(codes=tuple(_code(name.strip(), known) for name in text.split(",")))


def _code(name: str, known: countries.Countries) -> str:
    country = known.find(name)
    if country is None:
        raise ValueError(f"{name!r} is no country I know; use its name or ISO code")
    return country.code
