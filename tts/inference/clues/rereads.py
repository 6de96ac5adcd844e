"""Chooses lines that may be in another language than their reader expected, and that language: one line, or those of a
part of the photo.

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
from tts.inference.clues.photo_parts import halves, is_centre_inside
from tts.perception.alphabets import LANGUAGE_OF, SCRIPT_OF

_SCRIPTS = {LANGUAGE_OF[model]: script for model, script in SCRIPT_OF.items()}
_LANGUAGE_ALIASES = {"sh": "sr"}
_W = weights("rereads")
_UNREAD_DOUBT = _W["unread"]
_UNKNOWN_WORDS_DOUBT = _W["strange"]
_UNCERTAIN_DOUBT = _W["unsure"]
_CERTAIN_DOUBT = _W["settled"]
_CERTAIN_CONFIDENCE = _W["certain"]
_MIN_EXPECTED_LANGUAGE_SHARE = _W["expected"]
_MIN_REREAD_COUNTRY_SHARE = _W["wanted_country"]
_MIN_EXPECTED_COUNTRY_SHARE = _W["counted_country"]
_MIN_WORTH = _W["least_worth"]
_MIN_LEGIBLE_PX = _W["legible_px"]
_SIDE_MARGIN = _W["margin_beside"]
_VERTICAL_MARGIN = _W["margin_above"]
_UNSUPPORTED_LANGUAGE_CHANCE = _W["guesswork"]
_SAME_SCRIPT_CHANCE = _W["kin"]
_PART_WORTH = _W["part"]
_MIN_PART_LANGUAGE_CHANCE = _W["part_language"]
_WEB_ADDRESS = re.compile(r"@|www|\.[a-z]{2,3}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reread:
    """A line, or a part of a photo, and the language to read it in; `worth` grows with the chance that this shows
    something new."""

    box: Box
    language: str
    worth: float
    several_lines: bool = False


def rereads(known: Notes, countries: Mapping[str, float], photos: Sequence[Photo], reader: ClueReader) -> list[Reread]:
    """All that are worth a call, best first; temperature mixes them, in proportion to their worth."""
    rng = known.random(f"rereads/{known.turn}")
    wanted = languages_of(countries, reader)
    options = []
    expected = expected_languages(countries, reader)
    for box, taken, doubt in _doubtful_boxes(known, expected, reader):
        photo = photos[box.photo]
        size = min(1.0, (box.y1 - box.y0) * photo.height / _MIN_LEGIBLE_PX)
        for language, share in wanted.items():
            asked = _box_around(box)
            # most Latin lettering is as it was read
            kin = _SAME_SCRIPT_CHANCE if _SCRIPTS[language] == taken != "Latn" else 0.0
            worth = doubt * size * (share + kin)
            if worth >= _MIN_WORTH and (asked, language) not in known.read_as:
                options.append(Reread(asked, language, worth))
    seen_scripts = {script_of(line.text) for line in known.lines if line.confidence >= _CERTAIN_CONFIDENCE}
    whole = [
        option
        for option in options
        if wanted[option.language] >= _MIN_PART_LANGUAGE_CHANCE or _SCRIPTS[option.language] in seen_scripts - {"Latn"}
    ]
    options += [part for part in _parts_to_reread(whole) if (part.box, part.language) not in known.read_as]
    drawn = [(math.log(option.worth) + gumbel(rng.random(), known.temperature), option) for option in options]
    return [option for _, option in sorted(drawn, key=lambda pair: (-pair[0], pair[1].language, str(pair[1].box)))]


def _parts_to_reread(lines: Sequence[Reread]) -> Iterator[Reread]:
    """The whole photo, and parts of it, in a language in which several lines there are worth reading again."""
    for photo, language in dict.fromkeys((line.box.photo, line.language) for line in lines):
        here = [line for line in lines if (line.box.photo, line.language) == (photo, language)]
        for box, share in [(Box(x0=0.0, y0=0.0, x1=1.0, y1=1.0, photo=photo), 1.0)] + [
            (part, _PART_WORTH) for part in halves(photo)
        ]:
            inside = [line.worth for line in here if is_centre_inside(line.box, box)]
            if len(inside) > 1:
                yield Reread(box, language, share * sum(inside), several_lines=True)


def languages_of(countries: Mapping[str, float], reader: ClueReader) -> dict[str, float]:
    """How likely lettering is in each language that has a reader of its own, from a belief over countries."""
    shares = dict.fromkeys(sorted(_SCRIPTS), _UNSUPPORTED_LANGUAGE_CHANCE)
    for code, share in countries.items():
        country = reader.countries.get(code)
        for tag, part in (
            spoken_shares(country).items() if country is not None and share > _MIN_REREAD_COUNTRY_SHARE else ()
        ):
            language = _LANGUAGE_ALIASES.get(tag, tag)
            if language in shares:
                shares[language] += share * part
    return shares


def expected_languages(countries: Mapping[str, float], reader: ClueReader) -> list[str]:
    """Languages, with or without a reader of their own, in which lettering there may well be."""
    shares: dict[str, float] = {}
    for code, share in countries.items():
        country = reader.countries.get(code)
        for tag, part in (
            spoken_shares(country).items() if country is not None and share > _MIN_EXPECTED_COUNTRY_SHARE else ()
        ):
            shares[tag] = shares.get(tag, 0.0) + share * part
    return sorted(tag for tag, share in shares.items() if share >= _MIN_EXPECTED_LANGUAGE_SHARE)


def _doubtful_boxes(known: Notes, languages: Collection[str], reader: ClueReader) -> Iterator[tuple[Box, str, float]]:
    """Lines and unread boxes, the script they were taken for, and the chance that this is wrong."""
    for box in known.unread:
        yield box, "", _UNREAD_DOUBT
    for group in same_lines(known.lines):
        line = max(group, key=lambda line: line.box.area)
        yield line.box, script_of(line.text), min(_doubt_of_reading(reading, languages, reader) for reading in group)


def _doubt_of_reading(line: TextLine, languages: Collection[str], reader: ClueReader) -> float:
    if _has_only_figures(line.text) or any(reader.lines.is_familiar(line.text, language) for language in languages):
        return _CERTAIN_DOUBT if line.confidence >= _CERTAIN_CONFIDENCE else _UNCERTAIN_DOUBT
    return _UNKNOWN_WORDS_DOUBT


def _has_only_figures(text: str) -> bool:
    """Numbers, prices and addresses of the web mean the same in every language."""
    letters = sum(char.isalpha() for char in text)
    return 2 * letters <= len(text.replace(" ", "")) or _WEB_ADDRESS.search(text) is not None


def _box_around(box: Box) -> Box:
    """A little more than the line, on a grid, so that siblings ask for the same picture."""
    above = _VERTICAL_MARGIN * (box.y1 - box.y0)
    return Box(
        x0=max(0.0, round(box.x0 - _SIDE_MARGIN, 2)),
        y0=max(0.0, round(box.y0 - above, 2)),
        x1=min(1.0, round(box.x1 + _SIDE_MARGIN, 2)),
        y1=min(1.0, round(box.y1 + above, 2)),
        photo=box.photo,
    )
