"""Combines several readings of the same lines into texts, each with its trust.

A line may be read in the whole photo, in an enlarged part, and by the reader of a language that a rollout chose. A
reading of the last kind needs a check, because every reader is sure of some text in other scripts: its words or its
place must exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tts.decision_weights import weights
from tts.domain.photo import Box
from tts.domain.reading import TextLine
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import LETTER, normalise

_W = weights("line_trust")
_NO_TRUST_CONFIDENCE = _W["no_trust"]
_FULL_TRUST_CONFIDENCE = _W["full_trust"]
_SECOND_READING_TRUST = _W["second"]
_MIN_COMMON_AREA = _W["same_line"]
_NUMBER = re.compile(r"[1-9]\d{0,2}(?: ?km)?")
_MAX_LINES_BELOW = _W["below"]
_MIN_COMMON_WIDTH = _W["across"]
_MAX_ROW_SLOPE = _W["level"]
_MAX_HEIGHT_RATIO = _W["as_tall"]
_WORD = re.compile(rf"{LETTER}{{3,}}")
_MIN_WORD_LETTERS = {  # letters of a word that somebody may have seen …
    "": int(_W["word_letters"]),
    "ko": int(_W["korean_word_letters"]),
    **dict.fromkeys(("he", "ar", "fa", "ur"), int(_W["consonant_word_letters"])),
}
_DEFAULT_MIN_WORD_LETTERS = int(_W["asked_word_letters"])  # … and not made out of a texture
_MIN_PLACE_LETTERS = int(_W["place_letters"])
_LANGUAGE_ALIASES = {"sr": "sh"}
_UNKNOWN_WORDS_TRUST = _W["unknown_words"]
_UNLISTED_LANGUAGE_CONFIDENCE = _W["no_list_from"]
_UNLISTED_LANGUAGE_LETTERS = int(_W["no_list_letters"])
_TRUST_BESIDE_KNOWN_WORDS = _W["outdone"]
_MIN_OUTDONE_TRUST = _W["outdone_from"]
_CERTAIN_CONFIDENCE = weights("rereads")["certain"]


class LineTrust:
    """Knows words and places; deterministic."""

    def __init__(self, gazetteer: Gazetteer, lexicon: Lexicon) -> None:
        self._gazetteer = gazetteer
        self._lexicon = lexicon

    def texts(self, lines: Iterable[TextLine]) -> dict[str, float]:
        """Every text that may stand there with its trust in [0, 1], in the order of the lines."""
        found: dict[str, float] = {}
        for group in same_lines(_join_rows(list(lines))):
            for text, trust in self._trust_in_group(group).items():
                found[text] = max(trust, found.get(text, 0.0))
        return found

    def neighbours_of_lines(self, lines: Iterable[TextLine]) -> dict[str, tuple[str, ...]]:
        """For every line the texts of those right above and below it on what seems to be the same sign."""
        rows = _join_rows(list(lines))
        return dict(zip((row.text for row in rows), _neighbours(rows), strict=True))

    def lines_with_neighbours(self, lines: Iterable[TextLine]) -> list[tuple[TextLine, tuple[str, ...]]]:
        """The lines themselves, without the number that stands in the same row, with the same texts."""
        lines = list(lines)
        return list(zip(lines, _neighbours(_join_rows(lines)), strict=True))

    def is_familiar(self, text: str, language: str = "") -> bool:
        """Whether it has a word of some language (or of one), or is the name of a place."""
        wanted = _LANGUAGE_ALIASES.get(language, language)
        shortest = _MIN_WORD_LETTERS.get(language, _DEFAULT_MIN_WORD_LETTERS)
        for word in _WORD.findall(text.casefold()) if shortest > 2 else text.casefold().split():
            known = self._lexicon.frequencies(word) if len(word) >= shortest else {}
            if known and (not wanted or wanted in known):
                return True
        name = normalise(text)
        return len(name) >= _MIN_PLACE_LETTERS and bool(self._gazetteer.search(name, limit=1, fuzzy=False))

    def _trust_in_group(self, lines: Sequence[TextLine]) -> dict[str, float]:
        trust: dict[str, float] = {}
        for line in lines:
            first = self.trust_in_requested_reading(line) if line.language else trust_from_confidence(line.confidence)
            for text, share in (
                (line.text, first),
                *((other, _SECOND_READING_TRUST * first) for other in line.alternatives),
            ):
                trust[text] = max(share, trust.get(text, 0.0))
        better = {line.text for line in lines if line.language and self.is_familiar(line.text, line.language)}
        if not better and _has_certain_reading(lines):  # readers see their own letters in any lettering
            ordinary = _texts_of(line for line in lines if not line.language)
            trust = {text: share for text, share in trust.items() if text in ordinary or self.is_familiar(text)}
        if better and len(trust) > 1:
            known = {text for text in trust if text in better or self.is_familiar(text)}
            trust = {
                text: share if text in known else _TRUST_BESIDE_KNOWN_WORDS * share
                for text, share in trust.items()
                if text in known or _TRUST_BESIDE_KNOWN_WORDS * share >= _MIN_OUTDONE_TRUST
            }
        letters = {text: _letters(text) for text in trust}
        return {text: share for text, share in trust.items() if not _is_cut_off(letters[text], letters.values())}

    def trust_in_requested_reading(self, line: TextLine) -> float:
        """Trust in a reading by the reader of a language that a rollout chose."""
        if self.is_familiar(line.text, line.language):
            return trust_from_confidence(line.confidence)
        if _LANGUAGE_ALIASES.get(line.language, line.language) in self._lexicon.languages:
            return _UNKNOWN_WORDS_TRUST * trust_from_confidence(line.confidence)
        long_enough = sum(char.isalpha() for char in line.text) >= _UNLISTED_LANGUAGE_LETTERS
        return (
            trust_from_confidence(line.confidence)
            if long_enough and line.confidence >= _UNLISTED_LANGUAGE_CONFIDENCE
            else 0.0
        )


def _has_certain_reading(lines: Iterable[TextLine]) -> bool:
    """Whether the ordinary reading of a line, in no requested language, is certain."""
    return any(not line.language and line.confidence >= _CERTAIN_CONFIDENCE for line in lines)


def _texts_of(lines: Iterable[TextLine]) -> set[str]:
    return {text for line in lines for text in (line.text, *line.alternatives)}


def trust_from_confidence(confidence: float) -> float:
    """Trust in [0, 1] in what a recogniser read with this confidence."""
    return min(1.0, max(0.0, (confidence - _NO_TRUST_CONFIDENCE) / (_FULL_TRUST_CONFIDENCE - _NO_TRUST_CONFIDENCE)))


def same_lines(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Readings grouped by the line of lettering they are of, by where they stand; in order of appearance."""
    groups: list[list[TextLine]] = []
    for line in lines:
        group = next((group for group in groups if any(_are_same_line(line.box, other.box) for other in group)), None)
        if group is None:
            groups.append([line])
        else:
            group.append(line)
    return groups


def _join_rows(lines: list[TextLine]) -> list[TextLine]:
    """Lines with the number that stands in the same row: signposts and lists leave a gap between the two."""
    numbers = [line for line in lines if _NUMBER.fullmatch(line.text)]
    return [_join_number(line, numbers) for line in lines]


def _neighbours(rows: Sequence[TextLine]) -> list[tuple[str, ...]]:
    return [
        tuple(other.text for other in rows if stands_below(one.box, other.box) or stands_below(other.box, one.box))
        for one in rows
    ]


def _join_number(line: TextLine, numbers: list[TextLine]) -> TextLine:
    beside = [number for number in numbers if _are_in_a_row(line.box, number.box)] if line not in numbers else []
    return line.model_copy(update={"text": f"{line.text} {beside[0].text}"}) if len(beside) == 1 else line


def _are_in_a_row(one: Box, number: Box) -> bool:
    tall, other = one.y1 - one.y0, number.y1 - number.y0
    apart = max(number.x0 - one.x1, one.x0 - number.x1)
    level = abs((one.y0 + one.y1) - (number.y0 + number.y1)) / 2 < _MAX_ROW_SLOPE * max(tall, other)
    return one.photo == number.photo and apart > 0 and level and max(tall, other) < _MAX_HEIGHT_RATIO * min(tall, other)


def _are_same_line(one: Box, other: Box) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    if one.photo != other.photo or wide <= 0 or high <= 0:
        return False
    smaller = min(one.area, other.area)
    return wide * high >= _MIN_COMMON_AREA * smaller


def stands_below(above: Box, below: Box) -> bool:
    """Whether a line stands a little below another, with some of it under the other."""
    height = max(above.y1 - above.y0, below.y1 - below.y0)
    across = min(above.x1, below.x1) - max(above.x0, below.x0)
    narrower = min(above.x1 - above.x0, below.x1 - below.x0)
    close = 0.0 < (below.y0 + below.y1) / 2 - (above.y0 + above.y1) / 2 <= _MAX_LINES_BELOW * height
    return above.photo == below.photo and close and across >= _MIN_COMMON_WIDTH * narrower


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _is_cut_off(letters: str, others: Iterable[str]) -> bool:
    """Whether another reading of the line has all of this and more."""
    return any(len(other) > len(letters) and letters in other for other in others)
