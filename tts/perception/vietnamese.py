"""Vietnamese, of which PP-OCR reads the letters that it shares with other languages and leaves out the rest.

It reads “Thun Thanh” for “Thuận Thanh” and is sure of itself. A line with accents as Vietnamese has them is tried with
Tesseract's Vietnamese reader; where that finds letters of Vietnamese alone, the other lines are tried too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rapidfuzz.distance import LCSseq

from tts.decision_weights import weights
from tts.geodata.names import normalise
from tts.perception.alphabets import VIETNAMESE
from tts.perception.ppocr import Pixels
from tts.perception.script_recognition import ForeignLine
from tts.perception.tesseract import Tesseract

# Latin letters that no other language has
_VIETNAMESE_LETTERS = frozenset("ơư" + "".join(map(chr, range(0x1EA0, 0x1EFA))))
_ACCENTED_LETTERS = _VIETNAMESE_LETTERS | frozenset("àáâãèéêìíòóôõùúýăđĩũ")
_W = weights("reading")
_MAX_PROBED = int(_W["vietnamese_probed"])
_MAX_LINES_READ = int(_W["vietnamese_read"])
_MIN_CONFIDENCE = _W["vietnamese_sure"]
_EDGE_CHARACTERS = " .,:;'|"  # what it makes of the edges of a sign
_MIN_COMMON_SHARE = _W["vietnamese_kept"]


class VietnameseReader:
    """Reads lines with Tesseract's Vietnamese model, if it is installed; reads nothing otherwise."""

    def __init__(self, tesseract: Tesseract) -> None:
        self._tesseract = tesseract

    def read(self, lines: Mapping[int, tuple[Pixels, str]]) -> dict[int, ForeignLine]:
        """Readings of the lines (picture, PP-OCR's text; largest first) that have letters of Vietnamese alone."""
        if not self._tesseract.reads_vietnamese:
            return {}
        likely = [i for i, (_, text) in lines.items() if _may_be_vietnamese(text)]
        probed = sorted(likely, key=lambda i: _VIETNAMESE_LETTERS.isdisjoint(lines[i][1].casefold()))[:_MAX_PROBED]
        if not (found := self._read_lines(lines, probed)):
            return {}
        others = [i for i, (_, text) in lines.items() if i not in probed and not _has_few_letters(text)]
        return found | self._read_lines(lines, others[:_MAX_LINES_READ])

    def _read_lines(self, lines: Mapping[int, tuple[Pixels, str]], numbers: Iterable[int]) -> dict[int, ForeignLine]:
        found: dict[int, ForeignLine] = {}
        for i in numbers:
            crop, taken = lines[i]
            text, confidence = self._tesseract.read(crop, VIETNAMESE)
            text = text.strip(_EDGE_CHARACTERS)
            if (
                confidence >= _MIN_CONFIDENCE
                and not _VIETNAMESE_LETTERS.isdisjoint(text.casefold())
                and _has_sure_letters(text, taken)
            ):
                found[i] = ForeignLine(text, confidence, VIETNAMESE)
        return found


def _may_be_vietnamese(text: str) -> bool:
    accented = {char for char in text.casefold() if not char.isascii() and char.isalpha()}
    return bool(accented) and accented <= _ACCENTED_LETTERS


def _has_few_letters(text: str) -> bool:
    return 2 * sum(char.isalpha() for char in text) <= len(text)


def _has_sure_letters(text: str, taken: str) -> bool:
    """Whether a reading has the letters that were there for sure; accents aside."""
    ours, theirs = normalise(text).replace(" ", ""), normalise(taken).replace(" ", "")
    return LCSseq.similarity(ours, theirs) >= _MIN_COMMON_SHARE * len(theirs)
