"""Unexplained words: no list has them and no place has this name. Such a word may be a name of a place that was read
badly.

A rollout draws a country from its belief and looks up one of these words there. Siblings draw other countries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from tts.clues.clue_reader import ClueReader
from tts.clues.line_trust import trust_from_confidence
from tts.clues.words_around_names import is_town_word
from tts.decision_weights import weights
from tts.domain.reading import TextLine
from tts.geodata.names import LETTER, normalise, script_of
from tts.inference.clues.notes import Notes, gumbel
from tts.inference.clues.sibling_share import SiblingShare

_NO_SIBLINGS = SiblingShare()
_W = weights("unknown_words")
_MAX_COUNTRIES = int(_W["countries"])
_MIN_COUNTRY_SHARE = _W["likely"]
_MIN_LETTERS = _W["least_letters"]
_MAX_LETTERS = _W["most_letters"]
_OWN_SCRIPT_FACTOR = _W["own_letters"]
_MIN_TRUST = _W["least_trust"]
_MIN_SHARE_OF_LINE = _W["most_of_line"]
_PART_OF_LINE_FACTOR = _W["part_worth"]
_NAMED_TOWN_FACTOR = _W["named_town"]
_NAME = re.compile(rf"{LETTER}+(?:['’ .\-]*{LETTER}+)*")


def strange_names(
    known: Notes, countries: Mapping[str, float], reader: ClueReader, share: SiblingShare = _NO_SIBLINGS
) -> list[tuple[str, str]]:
    """(name, ISO country) pairs worth looking up, best first; temperature mixes them in proportion to their worth.

    Of several siblings each has its `share` of the names that all of them see, and all names that it has found itself.
    """
    rng = known.random(f"strangers/{known.turn}")
    likely = sorted(countries.items(), key=lambda item: (-item[1], item[0]))[:_MAX_COUNTRIES]
    drawn: list[tuple[float, str, str]] = []
    for name, worth in unknown_names(known.lines, reader):
        for code, probability in likely:
            if probability < _MIN_COUNTRY_SHARE or (share.of == 1 and (name, code) in known.asked):
                continue
            noise = gumbel(rng.random(), known.temperature)
            drawn.append((math.log(worth * probability) + noise, name, code))
    ranked = [(name, code) for _, name, code in sorted(drawn, key=lambda row: (-row[0], row[1], row[2]))]
    found = found_names(known, reader) if share.of > 1 else frozenset()
    own = set(share.own_options([pair for pair in ranked if pair[0] not in found]))
    return [pair for pair in ranked if (pair in own or pair[0] in found) and pair not in known.asked]


def found_names(known: Notes, reader: ClueReader) -> frozenset[str]:
    """The unexplained names in what this rollout has read since the photo was first read."""
    first = {name for name, _ in unknown_names(known.lines[: len(known.lines) - len(known.found_lines)], reader)}
    return frozenset(name for name, _ in unknown_names(known.lines, reader)) - first


def unknown_names(lines: Iterable[TextLine], reader: ClueReader) -> Iterator[tuple[str, float]]:
    """Lines, and words of longer ones, without any meaning, and their worth; the taller and surer the better.

    A line beside a word for a public service is worth most. It is the name of a town, so it may also be one that was
    read as other words. What a line may say instead counts only if the line itself has no meaning.
    """
    seen: set[str] = set()
    for line, beside in reader.lines.lines_with_neighbours(lines):
        names_town = any(is_town_word(text) for text in beside)
        others = () if reader.lines.is_familiar(line.text) else line.alternatives
        for text in (line.text, *others):
            for name in _searchable_parts(text):
                key = normalise(name)
                is_name = names_town and key == normalise(text)
                explained = _is_explained(name, reader) if is_name else reader.lines.is_familiar(name)
                if key not in seen and not explained:
                    seen.add(key)
                    yield key, _search_worth(line, name) * (_NAMED_TOWN_FACTOR if is_name else 1.0)


def _is_explained(name: str, reader: ClueReader) -> bool:
    """Whether a name beside a word for a public service is such a word itself, or that of a place."""
    return is_town_word(name) or bool(reader.gazetteer.search(name, limit=1, fuzzy=False))


def _searchable_parts(text: str) -> Iterator[str]:
    runs = _NAME.findall(text)
    for part in dict.fromkeys(runs + [word for run in runs for word in run.split()]):
        if _MIN_LETTERS <= sum(char.isalpha() for char in part) <= _MAX_LETTERS:
            yield part


def _search_worth(line: TextLine, name: str) -> float:
    letters = _OWN_SCRIPT_FACTOR if script_of(name) != "Latn" else 1.0
    return (
        letters
        * max(_MIN_TRUST, trust_from_confidence(line.confidence))
        * (1.0 if len(name) > _MIN_SHARE_OF_LINE * len(line.text) else _PART_OF_LINE_FACTOR)
    )
