"""Whether two names mean the same country or the same town, in any language and script.

Names are aliases, not strings: "Hefei" is "Hefei City" and "合肥". Two town names are the same when their plain forms
agree, or when the gazetteer knows one place that bears both.
"""

from __future__ import annotations

import re

from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.names import normalise

# What administrations add to a town's own name, as `normalise` writes it.
_GENERIC_WORDS = frozenset((
    "city", "town", "village", "municipality", "county", "district", "borough", "metropolitan", "metro", "area", "of",
    "the", "greater", "region", "ciudad", "municipio", "cidade", "ville", "commune", "de", "comune", "di", "stadt",
    "gemeinde", "stad", "gemeente", "miasto", "gmina", "obec", "kommune", "kommun", "shi", "gun", "ku", "si", "gu",
    "shahr", "thanh", "pho", "kota", "kabupaten", "город", "г", "місто", "м", "δημος",
))  # fmt: skip
_SUFFIXES = ("市", "县", "縣", "区", "區", "町", "村", "시", "군", "구")
_PART_SEPARATOR = re.compile(r"[,;/()（）、，|]")


class PlaceNames:
    """Compares place names. Without a gazetteer only plain forms are compared."""

    def __init__(self, countries: Countries, gazetteer: Gazetteer | None = None) -> None:
        self._countries = countries
        self._gazetteer = gazetteer

    def country_code(self, name: str) -> str:
        """ISO code of a country named in any language, or ''. A bracketed or comma-separated addition is ignored."""
        for part in (name, *_PART_SEPARATOR.split(name)):
            if part and (found := self._countries.find(part)) is not None:
                return found.code
        return ""

    def same_country(self, name: str, truth: str) -> bool:
        """False when either is empty: an unnamed country is never right."""
        if not name.strip() or not truth.strip():
            return False
        ours, theirs = self.country_code(name), self.country_code(truth)
        if ours or theirs:
            return ours == theirs
        return normalise(name) == normalise(truth)

    def same_city(self, name: str, truth: str, country: str = "") -> bool:
        """`country` (name or code, of the truth) keeps namesakes of other countries apart; '' looks everywhere."""
        ours, theirs = _forms(name), _forms(truth)
        if not ours or not theirs:
            return False
        if ours[0] == theirs[0] or theirs[0] in ours or ours[0] in theirs:
            return True
        code = self.country_code(country) if country else ""
        return bool(self._places(ours, code) & self._places(theirs, code))

    def _places(self, forms: list[str], code: str) -> set[str]:
        if self._gazetteer is None:
            return set()
        countries = (code,) if code else None
        found: set[str] = set()
        for form in forms[:3]:
            matches = self._gazetteer.search(form, countries=countries, kinds=("city",), limit=8, fuzzy=False)
            found.update(match.place.id for match in matches)
        return found


def _forms(name: str) -> list[str]:
    """Plain forms of a town name, the whole first, then its first part without what administrations add."""
    parts = [part for part in (name, *_PART_SEPARATOR.split(name)[:1]) if part.strip()]
    forms: list[str] = []
    for part in parts:
        plain = normalise(part)
        words = plain.split()
        bare = " ".join(word for word in words if word not in _GENERIC_WORDS) or plain
        for suffix in _SUFFIXES:
            if len(bare) > len(suffix) + 1 and bare.endswith(suffix):
                bare = bare.removesuffix(suffix)
                break
        forms += [form for form in (bare, plain) if form and form not in forms]
    return forms
