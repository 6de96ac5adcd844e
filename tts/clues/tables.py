"""The tables that clues use: which letters, words and marks belong where. The data is in `tts/data/clues.yaml`."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from functools import lru_cache

import yaml

from tts.domain.value import Value
from tts.errors import DataError

_VERSION = 1


class Tables(Value):
    """Country lists are ISO 3166-1 alpha-2 codes, languages BCP 47 primary tags; keys are as they are written."""

    photo_shares: Mapping[str, float]
    several_languages: frozenset[str]
    also_written: Mapping[str, str]
    wording: Mapping[str, Mapping[str, float]]
    letters: Mapping[str, tuple[str, ...]]
    currency_marks: Mapping[str, tuple[str, ...]]
    currency_words: Mapping[str, tuple[str, ...]]
    dollar: tuple[str, ...]
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
    raw["dollar"] = tuple(raw["dollar"].split())
    return Tables(**raw)
