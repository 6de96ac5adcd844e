"""Chooses the line that may be in another language than its reader expected, and that language.

The recognisers choose a script by similarity, so short words, plates and unusual lettering may get the wrong one. The
other lines of the photo are a better indication of the language, so a rollout asks to read the line in that language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tts.clues.clue_reader import ClueReader
from tts.clues.line_languages import spoken_shares
from tts.clues.line_trust import same_lines
from tts.decision_weights import weights
from tts.domain.photo import Box, Photo
from tts.domain.reading import TextLine
from tts.geodata.names import script_of
from tts.inference.clues.notes import Notes, gumbel
from tts.perception.alphabets import LANGUAGE_OF, SCRIPT_OF

_SCRIPTS = {LANGUAGE_OF[model]: script for model, script in SCRIPT_OF.items()}
_LANGUAGE_ALIASES = {"sh": "sr"}
_W = weights("rereads")
_UNREAD = _W["unread"]
_STRANGE = _W["strange"]
_UNSURE = _W["unsure"]
_SETTLED = _W["settled"]
_CERTAIN = _W["certain"]
_EXPECTED = _W["expected"]
_WANTED_COUNTRY = _W["wanted_country"]
_COUNTED_COUNTRY = _W["counted_country"]
_LEAST = _W["least_worth"]
_LEGIBLE_PX = _W["legible_px"]
_BESIDE = _W["margin_beside"]
_ABOVE = _W["margin_above"]
_GUESSWORK = _W["guesswork"]
_KIN = _W["kin"]
_WEB = re.compile(r"@|www|\.[a-z]{2,3}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reread:
    """A line and the language to read it in; `worth` grows with the chance that this shows something new."""

    box: Box
    language: str
    worth: float


def rereads(known: Notes, countries: Mapping[str, float], photos: Sequence[Photo], reader: ClueReader) -> list[Reread]:
    """All that are worth a call, best first; temperature mixes them, in proportion to their worth."""
    rng = known.random(f"rereads/{known.turn}")
    wanted = languages_of(countries, reader)
    options = []
    expected = expected_languages(countries, reader)
    for box, taken, doubt in _doubtful_boxes(known, expected, reader):
        photo = photos[box.photo]
        size = min(1.0, (box.y1 - box.y0) * photo.height / _LEGIBLE_PX)
        for language, share in wanted.items():
            asked = _box_around(box)
            kin = _KIN if _SCRIPTS[language] == taken != "Latn" else 0.0  # most Latin lettering is as it was read
            worth = doubt * size * (share + kin)
            if worth >= _LEAST and (asked, language) not in known.read_as:
                options.append(Reread(asked, language, worth))
    drawn = [(math.log(option.worth) + gumbel(rng.random(), known.temperature), option) for option in options]
    return [option for _, option in sorted(drawn, key=lambda pair: (-pair[0], pair[1].language, str(pair[1].box)))]


def languages_of(countries: Mapping[str, float], reader: ClueReader) -> dict[str, float]:
    """How likely lettering is in each language that has a reader of its own, from a belief over countries."""
    shares = dict.fromkeys(sorted(_SCRIPTS), _GUESSWORK)
    for code, share in countries.items():
        country = reader.countries.get(code)
        for tag, part in spoken_shares(country).items() if country is not None and share > _WANTED_COUNTRY else ():
            language = _LANGUAGE_ALIASES.get(tag, tag)
            if language in shares:
                shares[language] += share * part
    return shares


def expected_languages(countries: Mapping[str, float], reader: ClueReader) -> list[str]:
    """Languages, with or without a reader of their own, in which lettering there may well be."""
    shares: dict[str, float] = {}
    for code, share in countries.items():
        country = reader.countries.get(code)
        for tag, part in spoken_shares(country).items() if country is not None and share > _COUNTED_COUNTRY else ():
            shares[tag] = shares.get(tag, 0.0) + share * part
    return sorted(tag for tag, share in shares.items() if share >= _EXPECTED)


def _doubtful_boxes(known: Notes, languages: Collection[str], reader: ClueReader) -> Iterator[tuple[Box, str, float]]:
    """Lines and unread boxes, the script they were taken for, and the chance that this is wrong."""
    for box in known.unread:
        yield box, "", _UNREAD
    for group in same_lines(known.lines):
        line = max(group, key=lambda line: line.box.area)
        yield line.box, script_of(line.text), min(_doubt_of_reading(reading, languages, reader) for reading in group)


def _doubt_of_reading(line: TextLine, languages: Collection[str], reader: ClueReader) -> float:
    if _has_only_figures(line.text) or any(reader.lines.is_familiar(line.text, language) for language in languages):
        return _SETTLED if line.confidence >= _CERTAIN else _UNSURE
    return _STRANGE


def _has_only_figures(text: str) -> bool:
    """Numbers, prices and addresses of the web mean the same in every language."""
    letters = sum(char.isalpha() for char in text)
    return 2 * letters <= len(text.replace(" ", "")) or _WEB.search(text) is not None


def _box_around(box: Box) -> Box:
    """A little more than the line, on a grid, so that siblings ask for the same picture."""
    above = _ABOVE * (box.y1 - box.y0)
    return Box(
        x0=max(0.0, round(box.x0 - _BESIDE, 2)),
        y0=max(0.0, round(box.y0 - above, 2)),
        x1=min(1.0, round(box.x1 + _BESIDE, 2)),
        y1=min(1.0, round(box.y1 + above, 2)),
        photo=box.photo,
    )
