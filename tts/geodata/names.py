"""One spelling for comparing names in every script.

Case, Latin/Greek/Cyrillic diacritics, Arabic and Hebrew points, width and punctuation are folded away; the marks that
carry meaning in Indic and South-East Asian scripts stay.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_FOLDED_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ـ": None, "ё": "е", "ґ": "г",
        "’": None, "'": None, "`": None, "´": None, "ʻ": None, "ʼ": None, "‘": None, "·": " ", ".": None,
    }
)  # fmt: skip
# Letters that Arabic, Persian and Urdu write with different characters, and recognisers of one for those of another.
_ARABIC_LETTERS = str.maketrans("یېےکڪہھەۃ", "يييككهههه")
_DIACRITICS = re.compile(r"[\u0300-\u036f\u064b-\u065f\u0670\u0591-\u05c7]")
_MARKED_SCRIPTS = r"\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SEPARATORS = re.compile(rf"(?:[^\w{_MARKED_SCRIPTS}]|_)+")
_ASCII_LETTERS = str.maketrans(
    {chr(c): chr(c).lower() if chr(c).isalnum() else " " for c in range(128)} | {c: None for c in "'`."}
)
# Also a vowel sign: `re` takes those for no letters, and words would end there. No character fits both halves: a search
# that fails would try each letter of a Thai line in two ways, and double its time with every letter.
LETTER = rf"(?:[^\W\d_]|(?![^\W\d_])[{_MARKED_SCRIPTS}])"


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """The comparison form of a name; empty when nothing but punctuation is in it."""
    if name.isascii():  # the same, in a quarter of the time
        return " ".join(name.translate(_ASCII_LETTERS).split())
    plain = unicodedata.normalize("NFKD", name.casefold()).casefold()  # twice, for mathematical capitals
    folded = unicodedata.normalize("NFKD", plain).translate(_FOLDED_LETTERS)
    folded = unicodedata.normalize("NFC", _DIACRITICS.sub("", folded))
    return _SEPARATORS.sub(" ", folded).strip()


def place_key(name: str) -> str:
    """The form in which the gazetteer compares names: normalised, with one letter for each that Arabic, Persian and
    Urdu write with characters of their own."""
    return normalise(name).translate(_ARABIC_LETTERS)


def trigrams(normalised: str) -> set[str]:
    """Padded character trigrams of a normalised name; short names still give some."""
    padded = f" {normalised} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def script_of(text: str) -> str:
    """The dominant Unicode script among the letters of `text` (ISO 15924 names), or ''."""
    counts: dict[str, int] = {}
    for char in text:
        if char.isalpha() or unicodedata.category(char) in ("Mn", "Mc"):
            script = _script(char)
            counts[script] = counts.get(script, 0) + 1
    if not counts:
        return ""
    best = max(counts, key=lambda s: (counts[s], s))
    if best == "Hani" and (counts.get("Hira", 0) + counts.get("Kana", 0)):
        return "Jpan"
    return "Jpan" if best in ("Hira", "Kana") else best


_SCRIPT_PREFIXES = (
    ("LATIN", "Latn"), ("CYRILLIC", "Cyrl"), ("GREEK", "Grek"), ("CJK", "Hani"), ("HIRAGANA", "Hira"),
    ("KATAKANA", "Kana"), ("HANGUL", "Hang"), ("ARABIC", "Arab"), ("HEBREW", "Hebr"), ("THAI", "Thai"),
    ("DEVANAGARI", "Deva"), ("BENGALI", "Beng"), ("TAMIL", "Taml"), ("TELUGU", "Telu"), ("GUJARATI", "Gujr"),
    ("KANNADA", "Knda"), ("MALAYALAM", "Mlym"), ("SINHALA", "Sinh"), ("GURMUKHI", "Guru"), ("GEORGIAN", "Geor"),
    ("ARMENIAN", "Armn"), ("KHMER", "Khmr"), ("LAO", "Laoo"), ("MYANMAR", "Mymr"), ("ETHIOPIC", "Ethi"),
    ("TIBETAN", "Tibt"), ("MONGOLIAN", "Mong"),
)  # fmt: skip


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    for prefix, script in _SCRIPT_PREFIXES:
        if name.startswith(prefix):
            return script
    return "Zyyy"
