"""Faces for every script: those of the `scenes` extra first, the system's where they do not reach.

All faces of the extra are under the SIL Open Font License. System fonts are used for missing scripts only, so that the
same packages draw the same scenes on every machine. What cannot be drawn is listed with its reason, never drawn wrong:
a face is only used for a text when it has a glyph for every character, and scripts that need shaping need Raqm.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import ImageFont, features

from tts.eval.scenes.locales import SCRIPTS

_SHAPED_SCRIPTS = frozenset({"Arab", "Hebr", "Deva", "Beng", "Taml", "Telu", "Sinh", "Khmr", "Mymr"})
_SAMPLE_TEXTS = {
    "Latn": "Năłße", "Cyrl": "Жњї", "Grek": "Ωάθ", "Geor": "ქართ", "Armn": "Հայ", "Hebr": "שלום", "Arab": "پچعربی",
    "Deva": "हिन्द", "Beng": "বাংলা", "Taml": "தமிழ்", "Telu": "తెలుగ", "Sinh": "සිංහල", "Thai": "ไทยก", "Laoo": "ລາວກ",
    "Khmr": "ខ្មែរ", "Mymr": "မြန်မာ", "Ethi": "አማርኛ", "Hang": "한국어", "Jpan": "日本語かな", "Hans": "简体书",
    "Hant": "繁體書",
}  # fmt: skip
# (package, file, index in a collection, scripts)
_PACKAGED_FONTS: tuple[tuple[str, str, int, str], ...] = (
    ("manimgx_fonts", "NotoSans[wght].ttf", 0, "Latn Cyrl Grek"),
    ("fontpkg_noto_serif", "files/NotoSerif[wdth,wght].ttf", 0, "Latn Cyrl Grek"),
    ("fontpkg_oswald", "files/Oswald[wght].ttf", 0, "Latn Cyrl"),
    ("fontpkg_bitter", "files/Bitter[wght].ttf", 0, "Latn Cyrl"),
    ("fontpkg_kanit", "files/Kanit-Medium.ttf", 0, "Latn Thai"),
    ("fontpkg_amiri", "files/Amiri-Bold.ttf", 0, "Arab"),
    ("fontpkg_frank_ruhl_libre", "files/FrankRuhlLibre[wght].ttf", 0, "Latn Hebr"),
    ("manimgx_fonts", "NotoSansGeorgian[wght].ttf", 0, "Geor"),
    ("manimgx_fonts", "NotoSansArmenian[wght].ttf", 0, "Armn"),
    ("manimgx_fonts", "NotoSansHebrew[wght].ttf", 0, "Hebr"),
    ("manimgx_fonts", "NotoSansArabic[wght].ttf", 0, "Arab"),
    ("manimgx_fonts", "NotoSansDevanagari[wght].ttf", 0, "Deva"),
    ("manimgx_fonts", "NotoSansBengali[wght].ttf", 0, "Beng"),
    ("manimgx_fonts", "NotoSansTamil[wght].ttf", 0, "Taml"),
    ("manimgx_fonts", "NotoSansTelugu[wght].ttf", 0, "Telu"),
    ("manimgx_fonts", "NotoSansSinhala[wght].ttf", 0, "Sinh"),
    ("manimgx_fonts", "NotoSansThai[wght].ttf", 0, "Thai"),
    ("manimgx_fonts", "NotoSansLao[wght].ttf", 0, "Laoo"),
    ("manimgx_fonts", "NotoSansKhmer[wght].ttf", 0, "Khmr"),
    ("manimgx_fonts", "NotoSansMyanmar[wght].ttf", 0, "Mymr"),
    ("manimgx_fonts", "NotoSansEthiopic[wght].ttf", 0, "Ethi"),
    ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc", 0, "Jpan"),
    ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc", 1, "Hang"),
    ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc", 2, "Hans"),
    ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc", 3, "Hant"),
)
_SYSTEM_FOLDERS = {
    "linux": ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts"),
    "darwin": ("/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts"),
    "win32": ("C:/Windows/Fonts",),
}
_MAX_SYSTEM_FILES = 600


@dataclass(frozen=True, slots=True)
class Face:
    """One face of a font file."""

    path: str
    index: int = 0

    def font(self, size_px: int, weight: int = 500) -> ImageFont.FreeTypeFont:
        """The face at a size; a variable one at about `weight` (100 to 900)."""
        font = ImageFont.truetype(self.path, size_px, index=self.index)
        try:
            axes = font.get_variation_axes()
        except OSError:
            return font  # not a variable font
        font.set_variation_by_axes([_axis_value(axis, weight) for axis in axes])
        return font

    def covers(self, text: str) -> bool:
        """Whether every visible character has a glyph of its own."""
        return all(_has_glyph(self, char) for char in set(text) if _is_visible(char))


class FontShelf:
    """Faces by script. `missing` names scripts that cannot be drawn here, with the reason."""

    def __init__(self, *, system: bool = True) -> None:
        self._faces: dict[str, list[Face]] = {script: [] for script in SCRIPTS}
        for package, name, index, scripts in _PACKAGED_FONTS:
            if (path := _packaged_file(package, name)) is not None:
                for script in scripts.split():
                    self._faces[script].append(Face(str(path), index))
        lacking = [script for script in SCRIPTS if not self._faces[script]]
        if system and lacking:
            self._add_system_fonts(lacking)
        self.missing = {script: reason for script in SCRIPTS if (reason := self._missing_reason(script)) is not None}

    @property
    def drawable(self) -> tuple[str, ...]:
        """The scripts that can be drawn here, as ISO 15924 codes."""
        return tuple(script for script in SCRIPTS if script not in self.missing)

    def pick(self, rng: random.Random, script: str, text: str) -> Face | None:
        """A face of the script, or a Latin one, that has every character of the text; None when there is none."""
        for pool in (self._faces.get(script, []), self._faces["Latn"]):
            able = [face for face in pool if face.covers(text)]
            if able:
                return rng.choice(able)
        return None

    def _missing_reason(self, script: str) -> str | None:
        if not self._faces[script]:
            return "no font: pip install 'geotts[scenes]'"
        if script in _SHAPED_SCRIPTS and not features.check("raqm"):
            return "this Pillow cannot shape text (no Raqm)"
        return None

    def _add_system_fonts(self, scripts: list[str]) -> None:
        for path in _system_files():
            for script in scripts:
                if len(self._faces[script]) < 3 and _can_open(path) and Face(str(path)).covers(_SAMPLE_TEXTS[script]):
                    self._faces[script].append(Face(str(path)))


def _axis_value(axis: Any, weight: int) -> float:
    """`weight` within a weight axis, the default of any other."""
    return float(max(axis["minimum"], min(axis["maximum"], weight)) if axis["name"] == b"Weight" else axis["default"])


def _packaged_file(package: str, name: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / name
        if path.is_file():
            return path
    return None


def _system_files() -> list[Path]:
    folders = [Path(os.path.expanduser(f)) for f in _SYSTEM_FOLDERS.get(sys.platform, ())]
    found = (path for folder in folders if folder.is_dir() for path in folder.rglob("*"))
    return sorted(path for path in found if path.suffix.lower() in (".ttf", ".otf", ".ttc"))[:_MAX_SYSTEM_FILES]


def _is_visible(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) not in ("Cf", "Mn", "Mc")


@lru_cache(maxsize=64)
def _can_open(path: Path) -> bool:
    try:
        ImageFont.truetype(str(path), 24)
    except OSError:
        return False
    return True


@lru_cache(maxsize=65536)
def _has_glyph(face: Face, char: str) -> bool:
    """Drawn alone, a character without a glyph looks like the one no font has."""
    font = _plain_font(face)
    return bytes(font.getmask(char)) != _missing_glyph(face)


@lru_cache(maxsize=256)
def _missing_glyph(face: Face) -> bytes:
    return bytes(_plain_font(face).getmask("\U0010fffe"))


@lru_cache(maxsize=256)
def _plain_font(face: Face) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(face.path, 24, index=face.index, layout_engine=ImageFont.Layout.BASIC)
