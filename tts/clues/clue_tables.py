"""The tables that clues use: which letters, words and marks belong where. The data is in `tts/data/clues.yaml`."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Annotated, Literal

import yaml
from pydantic import Field

from tts.domain.value import Value
from tts.errors import DataError
from tts.geodata.names import normalise

_VERSION = 1


class Region(Value):
    """Names of first-order divisions (none: all others of the country) and the shares of languages on their signs."""

    of: frozenset[str] = frozenset()
    wording: Mapping[str, float]


class HandSetTable(Value):
    """When somebody chose the values of a table, and for which reason."""

    source: Literal["hand-set"]
    date: date
    reason: Annotated[str, Field(min_length=20)]


class TableSources(Value):
    """Where the tables come from whose values are shares, and not facts."""

    photo_shares: HandSetTable
    wording: HandSetTable
    regional: HandSetTable


class Tables(Value):
    """Country lists are ISO 3166-1 alpha-2 codes, languages BCP 47 primary tags; keys are as they are written,
    `town_words` as they are compared."""

    sources: TableSources
    photo_shares: Mapping[str, float]
    several_languages: frozenset[str]
    also_written: Mapping[str, str]
    wording: Mapping[str, Mapping[str, float]]
    regional: Mapping[str, tuple[Region, ...]]
    letters: Mapping[str, tuple[str, ...]]
    currency_marks: Mapping[str, tuple[str, ...]]
    currency_words: Mapping[str, tuple[str, ...]]
    dollar: tuple[str, ...]
    date_forms: Mapping[str, tuple[str, ...]]
    town_words: frozenset[str]
    companies: Mapping[str, tuple[str, ...]]
    weak_companies: frozenset[str]


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The shipped tables. Raises DataError when the file is of another version."""
    raw = yaml.safe_load(importlib.resources.files("tts").joinpath("data/clues.yaml").read_text(encoding="utf-8"))
    if raw.pop("version") != _VERSION:
        raise DataError("data/clues.yaml is of another version than this code: reinstall GeoTTS")
    for name in ("letters", "currency_marks", "currency_words", "companies"):
        raw[name] = {key: tuple(value.split()) for key, value in raw[name].items()}
    raw["several_languages"] = frozenset(raw["several_languages"].split())
    raw["date_forms"] = _forms_by_country(raw["date_forms"])
    raw["town_words"] = frozenset(normalise(word) for words in raw["town_words"].values() for word in words)
    raw["dollar"] = tuple(raw["dollar"].split())
    return Tables(**raw)


def _forms_by_country(countries: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """ISO code → its forms, from form → codes."""
    forms: dict[str, list[str]] = {}
    for form, codes in countries.items():
        for code in codes.split():
            forms.setdefault(code, []).append(form)
    return {code: tuple(found) for code, found in forms.items()}
