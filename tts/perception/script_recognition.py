"""Recognises the script of lines that PP-OCR could not read: Tesseract's readers of several scripts compete for them.

Each reader also "reads" other scripts, with lower confidence. The surest reader whose text is really in its own script
therefore names the script. Thresholds were set on drawn signs in 21 scripts and on photographs without signs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.geodata.names import script_of
from tts.perception.alphabets import SCRIPT_OF
from tts.perception.ppocr import Pixels
from tts.perception.tesseract import Tesseract

_W = weights("reading")
_MAX_PROBED = int(_W["probed"])
_MAX_PROBED_IN_A_BOX = int(_W["probed_in_box"])
_CERTAIN_CONFIDENCE = _W["certain"]
_MAX_LINES_READ = int(_W["lines_read"])
_MIN_CONFIDENCE = _W["floor"]
_MIN_CONFIDENCE_BY_LANGUAGE = {
    "ara": _W["floor_ara"],
    "fas": _W["floor_fas"],
    "urd": _W["floor_urd"],
    "khm": _W["floor_khm"],
    "mya": _W["floor_mya"],
    "ben": _W["floor_ben"],
}  # readers that are modest about what they read well
_CONFIDENCE_PENALTIES = {
    "tha": _W["handicap_tha"],
    "rus": _W["handicap_rus"],
    "ukr": _W["handicap_ukr"],
    "srp": _W["handicap_srp"],
    "bul": _W["handicap_bul"],
    "hye": _W["handicap_hye"],
    "pan": _W["handicap_pan"],
}  # readers that are sure of foreign lettering too
_UNRATED_LANGUAGES = frozenset({"lao", "mya"})  # readers whose confidence is often 0 for what they read well
_MIN_THAI_CONFIDENCE = _W["thai_from"]
_MIN_LAO_LETTERS = _W["lao_from"]
_MIN_SAME_SCRIPT_LETTERS = _W["kin_from"]
_MIN_SAME_SCRIPT_SHARE = _W["kin_share"]
_MIN_LETTERS = _W["least_letters"]
_MIN_HEIGHT_PX = _W["least_height_px"]
_UNRATED_CONFIDENCE = _MIN_CONFIDENCE + _W["unrated_above_floor"]

# Capitals that Cyrillic or Greek share with Latin; a word of only these cannot be told apart by its shape.
_LOOKALIKE_LETTERS = {"Cyrl": frozenset("АВЕКМНОРСТУХаеорсух"), "Grek": frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυ")}
_MIN_LOOKALIKE_CONFIDENCE = _W["twin_floor"]


@dataclass(frozen=True, slots=True)
class ForeignLine:
    """What a Tesseract reader made of a line; `confidence` in [0, 1] after its handicap."""

    text: str
    confidence: float
    language: str


class ForeignReader:
    """Reads lines in the scripts Tesseract's installed models cover."""

    def __init__(self, tesseract: Tesseract) -> None:
        self._tesseract = tesseract

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which scripts are not read and what to install; empty when no model is missing."""
        return self._tesseract.warnings

    def read(self, crops: dict[int, Pixels], *, enlarged: bool = False) -> dict[int, ForeignLine]:
        """Readings of those crops that are surely in a foreign script. `crops` come largest first."""
        usable = {i: crop for i, crop in crops.items() if min(crop.shape[:2]) >= _MIN_HEIGHT_PX}
        probes = _MAX_PROBED_IN_A_BOX if enlarged else _MAX_PROBED
        probed = list(usable)[:probes]
        found: dict[int, ForeignLine] = {}
        for i in probed:
            best = self._best_line(usable[i], self._tesseract.languages)
            if best is not None:
                found[i] = best
        votes = Counter(line.language for line in found.values())
        if not votes:
            return {}
        languages = tuple(language for language, _ in votes.most_common(2))
        for i in list(usable)[probes:_MAX_LINES_READ]:
            best = self._best_line(usable[i], languages)
            if best is not None:
                found[i] = best
        return found

    def read_as(self, crop: Pixels, tag: str) -> ForeignLine:
        """What the reader of one language makes of a line that is said to be in it.

        Its confidence counts the share of letters in that language's script, less the reader's handicap.

        Raises:
            ToolError: where there is no such reader.
        """
        language = self._tesseract.model_of(tag)
        text, confidence = self._tesseract.read(crop, language)
        letters = [char for char in text if char.isalpha()]
        own = sum(script_of(char) == SCRIPT_OF[language] for char in letters)
        if own < _MIN_LETTERS:
            return ForeignLine(text, 0.0, language)
        if language in _UNRATED_LANGUAGES and own == len(letters):
            confidence = max(confidence, _MIN_CONFIDENCE)
        return ForeignLine(
            text, max(0.0, confidence * own / len(letters) - _CONFIDENCE_PENALTIES.get(language, 0.0)), language
        )

    def look_alikes(self, lines: dict[int, tuple[Pixels, str]], seen: set[str]) -> dict[int, ForeignLine]:
        """Second readings of Latin-looking capitals in Cyrillic or Greek, where the rest of the photo suggests it."""
        twins: dict[int, ForeignLine] = {}
        scripts = {SCRIPT_OF[language] for language in seen}
        candidates = [
            i for i, (_, text) in lines.items() if script_of(text) == "Latn" and len(text) >= _W["twin_letters"]
        ]
        for language in ("rus", "ell"):
            wanted = candidates[:_MAX_LINES_READ] if SCRIPT_OF[language] in scripts else candidates[:1]
            for i in wanted if language in self._tesseract.languages else ():
                best = self._best_line(lines[i][0], (language,))
                surely = best is not None and best.confidence >= _MIN_LOOKALIKE_CONFIDENCE
                if best is not None and surely and (SCRIPT_OF[language] in scripts or _is_distinct(best)):
                    twins.setdefault(i, best)
        return twins

    def _best_line(self, crop: Pixels, languages: tuple[str, ...]) -> ForeignLine | None:
        read: list[ForeignLine] = []
        for language in languages:
            read += self._read_in_language(crop, language)
            if read and read[-1].confidence >= _CERTAIN_CONFIDENCE:
                break
        best = max(read, key=lambda line: (line.confidence, line.language), default=None)
        if best is not None and best.language == "tha" and best.confidence < _MIN_THAI_CONFIDENCE:
            return self._lao_line(crop) or best
        return best

    def _read_in_language(self, crop: Pixels, language: str) -> list[ForeignLine]:
        """A reader's line, best of its kin where its script has several alphabets; none that is not sure enough."""
        text, confidence = self._tesseract.read(crop, language)
        read = [self._rated_line(text, confidence, language)]
        letters = sum(char.isalpha() for char in text)
        if (
            letters >= _MIN_SAME_SCRIPT_LETTERS
            and letters >= _MIN_SAME_SCRIPT_SHARE * len(text.replace(" ", ""))
            and confidence < _CERTAIN_CONFIDENCE
        ):
            kin = self._tesseract.related_languages(language)
            read += [self._rated_line(*self._tesseract.read(crop, other), other) for other in kin]
        return sorted((line for line in read if line is not None), key=lambda line: line.confidence)

    def _lao_line(self, crop: Pixels) -> ForeignLine | None:
        """The line as Lao, if it is: the Thai reader reads Lao by its likeness, and the Lao reader is modest."""
        if "lao" not in self._tesseract.languages:
            return None
        text, _ = self._tesseract.read(crop, "lao")
        letters = [char for char in text if char.isalpha()]
        strange = any(char.isdigit() or char.isascii() for char in text.replace(" ", ""))
        pure = not strange and all(script_of(char) == "Laoo" for char in letters)
        return ForeignLine(text, _UNRATED_CONFIDENCE, "lao") if pure and len(letters) >= _MIN_LAO_LETTERS else None

    def _rated_line(self, text: str, confidence: float, language: str) -> ForeignLine | None:
        """One reader's line, if it is in its own script and the reader is sure enough."""
        letters = [char for char in text if char.isalpha()]
        own = sum(script_of(char) == SCRIPT_OF[language] for char in letters)
        if own < _MIN_LETTERS or not _is_varied(text, letters, language):
            return None
        share = own / len(letters)
        if (
            language in _UNRATED_LANGUAGES
            and share >= _W["unrated_share"]
            and len(letters) == len(text.replace(" ", ""))
            and len(set(letters)) >= _W["unrated_letters"]
        ):
            confidence = max(confidence, _UNRATED_CONFIDENCE)
        confidence = confidence * share - _CONFIDENCE_PENALTIES.get(language, 0.0)
        floor = _MIN_CONFIDENCE_BY_LANGUAGE.get(language, _MIN_CONFIDENCE) + (
            _W["floor_short"] if own < _W["short_below"] else 0.0
        )
        return ForeignLine(text, confidence, language) if confidence >= floor else None


def _is_distinct(line: ForeignLine) -> bool:
    """Whether a reading has letters that Latin does not have, and few that it shares."""
    letters = [char for char in line.text if char.isalpha()]
    own = sum(char not in _LOOKALIKE_LETTERS[SCRIPT_OF[line.language]] for char in letters)
    return len(letters) >= _W["distinct_letters"] and own >= _W["distinct_share"] * len(letters)


def _is_varied(text: str, letters: list[str], language: str) -> bool:
    """Whether this can be a word: textures come out as one sign repeated, or as digits with a stray letter."""
    digits = sum(char.isdigit() for char in text)
    least = _W["varied_syllables"] if language == "kor" else _W["varied_letters"]
    return len(set(letters)) >= least and digits <= len(letters) + _W["varied_digits"]
