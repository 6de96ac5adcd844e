"""English names of languages, scripts and countries for sentences that people read, from the Unicode CLDR."""

from __future__ import annotations

from collections.abc import Iterable

from babel import Locale

_ENGLISH_LOCALE = Locale("en")


def language_name(tag: str) -> str:
    """“Arabic” for `ar`; a tag that CLDR does not name stays as it is."""
    return str(_ENGLISH_LOCALE.languages.get(tag, tag))


def script_names(codes: Iterable[str]) -> str:
    """“Arabic and Latin” for the ISO 15924 codes `Arab` and `Latn`, in the order of the names."""
    return join_names(sorted(_ENGLISH_LOCALE.scripts.get(code, code) for code in codes))


def country_name(code: str) -> str:
    """“Switzerland” for the ISO 3166-1 code `CH`; a code that CLDR does not name stays as it is."""
    return str(_ENGLISH_LOCALE.territories.get(code, code))


def join_names(names: Iterable[str], last: str = "and") -> str:
    """“A”, “A and B” or “A, B and C”."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end
