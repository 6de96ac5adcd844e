"""Which Tesseract model reads which script and language. Tables only: who asks for a reading need not load a reader."""

from __future__ import annotations

from collections.abc import Iterable

SCRIPTS = {
    "rus": "Cyrl", "ell": "Grek", "kor": "Hang", "ara": "Arab", "heb": "Hebr", "tha": "Thai", "hin": "Deva",
    "ben": "Beng", "tam": "Taml", "tel": "Telu", "kat": "Geor", "hye": "Armn", "khm": "Khmr", "lao": "Laoo",
    "mya": "Mymr", "sin": "Sinh", "amh": "Ethi", "guj": "Gujr", "kan": "Knda", "mal": "Mlym", "pan": "Guru",
}  # fmt: skip
# Readers of the same script for other alphabets; they are asked where the script's first reader found its letters.
KIN = {"rus": ("ukr", "srp", "bul"), "ara": ("fas", "urd")}
VIETNAMESE = "vie"  # reads the Latin letters that PP-OCR leaves out
SCRIPT_OF = SCRIPTS | {kin: SCRIPTS[first] for first, others in KIN.items() for kin in others} | {VIETNAMESE: "Latn"}
LANGUAGE_OF = {
    "rus": "ru", "ukr": "uk", "srp": "sr", "bul": "bg", "ell": "el", "kor": "ko", "ara": "ar", "fas": "fa", "urd": "ur",
    "heb": "he", "tha": "th", "hin": "hi", "ben": "bn", "tam": "ta", "tel": "te", "kat": "ka", "hye": "hy", "khm": "km",
    "lao": "lo", "mya": "my", "sin": "si", "amh": "am", "guj": "gu", "kan": "kn", "mal": "ml", "pan": "pa",
    "vie": "vi",
}  # fmt: skip


def lettering(models: Iterable[str]) -> str:
    """What would not be read, or not well, without these models: scripts, and Vietnamese, as a list to show."""
    return ", ".join(dict.fromkeys("Vietnamese" if one == VIETNAMESE else SCRIPT_OF[one] for one in models))
