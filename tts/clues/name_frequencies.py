"""How far a word is the name of a town, and not an ordinary word of a language.

“Manchester” is in word lists because people write about the town; “reading” is there because people read. A list has
only the frequency of a word. This module compares it with the frequency that the name of such a town usually has. A
word that is hardly more frequent than that is the name; a word that is much more frequent has another meaning, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from tts.clues.name_use import NO_NAME, NameUse
from tts.clues.priors import Priors
from tts.decision_weights import weights
from tts.geodata.gazetteer import Gazetteer, Match, Place
from tts.geodata.lexicon import Lexicon

_W = weights("name_frequencies")
_WORD_MIN_ZIPF = _W["word_from_zipf"]
_WORD_SCALE_ZIPF = _W["word_scale_zipf"]
_MIN_LETTERS = int(_W["shortest"])
_NAME_SHARE_ELSEWHERE = _W["left_to_names"]
_NAME_ZIPF_DISTRIBUTION = NormalDist(0.0, _W["spread_zipf"])
_LETTER_COUNTS = (4, 5, 8, 12)
_WORD_PROBABILITIES = (_W["word_of_4"], _W["word_of_5"], _W["word_of_8"], _W["word_of_12"])
_CACHE_SIZE = 20_000
_MAX_TOWNS = 24


class NameFrequencies:
    """Thread-safe. Words are normalised (`tts.geodata.names.normalise`)."""

    def __init__(self, gazetteer: Gazetteer, lexicon: Lexicon, priors: Priors) -> None:
        self._gazetteer = gazetteer
        self._lexicon = lexicon
        self._priors = priors
        self.name_use = lru_cache(_CACHE_SIZE)(self._name_use)

    def word_shares(self, word: str, matches: Sequence[Match]) -> dict[str, float]:
        """By language, the share of a word's frequency that is not about a town, in [0, 1]. `matches` are the places
        with this word in their name."""
        known = self._lexicon.frequencies(word)
        if len(word) < _MIN_LETTERS:
            return dict.fromkeys(known, 1.0)
        expected = self._expected_zipf(_places_of_matches(matches), known)
        return {
            tag: _NAME_SHARE_ELSEWHERE + (1.0 - _NAME_SHARE_ELSEWHERE) * _chance_of_word(len(word), zipf, expected[tag])
            for tag, zipf in known.items()
        }

    def _name_use(self, word: str) -> NameUse:
        """How far a word of a line is the name of a town."""
        known = self._lexicon.frequencies(word)
        if not known or len(word) < _MIN_LETTERS:
            return NO_NAME
        matches = self._gazetteer.search(word, limit=_MAX_TOWNS, fuzzy=False)
        towns = [place for place in _places_of_matches(matches) if place.kind == "city"]
        if not towns:
            return NO_NAME
        shares = self.word_shares(word, matches)
        frequencies = {tag: math.pow(10.0, zipf) for tag, zipf in known.items()}
        about_others = sum(shares[tag] * frequency for tag, frequency in frequencies.items())
        spoken = self._priors.languages_by_country
        languages = frozenset(tag for town in towns for tag in spoken.get(town.country_code, ()))
        return NameUse(about_others / sum(frequencies.values()), languages)

    def _expected_zipf(self, places: Iterable[Place], languages: Iterable[str]) -> dict[str, float]:
        """By language, the usual Zipf value of the name of the town among the places that is written about most."""
        found = dict.fromkeys(languages, -math.inf)
        for place in places:
            if place.kind != "city" or not (share := self._priors.photo_share(place)):
                continue
            abroad = _W["abroad_zipf"] + _W["abroad_slope"] * math.log10(share)
            spoken = self._priors.languages_by_country.get(place.country_code, {})
            for tag in found:
                found[tag] = max(found[tag], abroad)
                if tag in spoken:
                    local = _W["local_slope"] * math.log10(share / self._priors.photo_share_by_language[tag])
                    found[tag] = max(found[tag], _W["local_zipf"] + local)
        return found


def _places_of_matches(matches: Sequence[Match]) -> list[Place]:
    """The places that have a name as their main one; if there are none, those that have it as another one."""
    return [match.place for match in matches if match.primary] or [match.place for match in matches]


def _chance_of_word(letters: int, zipf: float, expected: float) -> float:
    """The chance that a name of so many letters, in a list with this Zipf value, is an ordinary word; `expected` is the
    usual value for the name of the town."""
    prior = float(np.interp(letters, _LETTER_COUNTS, _WORD_PROBABILITIES))
    as_word = prior * math.exp(-max(0.0, zipf - _WORD_MIN_ZIPF) / _WORD_SCALE_ZIPF) / _WORD_SCALE_ZIPF
    as_name = (1.0 - prior) * _W["in_list"] * _NAME_ZIPF_DISTRIBUTION.pdf(max(0.0, zipf - expected))
    return as_word / (as_word + as_name)
