"""Tesseract for the scripts PP-OCR cannot read, one line picture at a time, where its models are installed.

Models come from the system (Debian: tesseract-ocr-rus, -kor, -ara, … one a script). Nothing is downloaded; a
missing model is reported once and its script is then not read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tesserocr
from PIL import Image

from tts.errors import ToolError, ToolErrorKind
from tts.perception.alphabets import KIN, LANGUAGE_OF, SCRIPT_OF, SCRIPTS, VIETNAMESE, lettering
from tts.perception.ppocr import Pixels

os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # one thread a session, like everything in perception

_MODEL_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
_TALL_SCRIPTS = frozenset({"mya", "ben", "khm", "lao"})  # scripts with marks stacked above and below
_LINE_HEIGHT_PX = 48
_PAD_PX = 12


@dataclass(frozen=True, slots=True)
class InstalledModels:
    """Where the models are and which languages of `SCRIPT_OF` they cover."""

    folder: Path | None
    languages: tuple[str, ...]

    @property
    def missing_languages(self) -> tuple[str, ...]:
        """The languages of `SCRIPT_OF` that have no installed model."""
        return tuple(language for language in SCRIPT_OF if language not in self.languages)


@lru_cache(maxsize=1)
def installed_models() -> InstalledModels:
    """Look through TESSDATA_PREFIX and the usual folders; the one with most of our languages wins."""
    best = InstalledModels(None, ())
    for name in (os.environ.get("TESSDATA_PREFIX", ""), *_MODEL_FOLDERS):
        folder = Path(name)
        if name and folder.is_dir():
            here = tuple(code for code in SCRIPT_OF if (folder / f"{code}.traineddata").is_file())
            if len(here) > len(best.languages):
                best = InstalledModels(folder, here)
    return best


class Tesseract:
    """Line readers, one a language, opened when first needed (20 ms and 10 to 30 MB each). Not thread-safe."""

    def __init__(self) -> None:
        self._installed_models = installed_models()
        self._readers: dict[str, Any] = {}

    @property
    def languages(self) -> tuple[str, ...]:
        """The first readers of all scripts."""
        return tuple(language for language in self._installed_models.languages if language in SCRIPTS)

    def model_of(self, tag: str) -> str:
        """The model for a BCP 47 primary tag. Raises ToolError, naming the tags there are models for."""
        tags = {LANGUAGE_OF[language]: language for language in self._installed_models.languages}
        if tag not in tags:
            there = ", ".join(sorted(tags)) or "none"
            raise ToolError(
                f"no reader for {tag!r}; there are readers for {there}", kind=ToolErrorKind.INVALID_ARGUMENTS
            )
        return tags[tag]

    @property
    def reads_vietnamese(self) -> bool:
        """Whether the Vietnamese model is installed."""
        return VIETNAMESE in self._installed_models.languages

    def related_languages(self, language: str) -> tuple[str, ...]:
        """The other readers of a first reader's script."""
        return tuple(kin for kin in KIN.get(language, ()) if kin in self._installed_models.languages)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which scripts are not read and what to install, in one sentence; empty when no model is missing."""
        missing = self._installed_models.missing_languages
        if not missing:
            return ()
        packages = " ".join(f"tesseract-ocr-{code}" for code in missing)
        return (f"signs in {lettering(missing)} are not read, or not well: install {packages}",)

    def read(self, crop: Pixels, language: str) -> tuple[str, float]:
        """Text and confidence in [0, 1] of an upright line (BGR pixels)."""
        reader = self._get_reader(language)
        reader.SetImage(Image.fromarray(_prepare_crop(crop)))
        text = reader.GetUTF8Text().strip()
        if not text and language in _TALL_SCRIPTS:  # marks above and below made it look for a line in vain
            reader.SetPageSegMode(tesserocr.PSM.RAW_LINE)
            text = reader.GetUTF8Text().strip()
            reader.SetPageSegMode(tesserocr.PSM.SINGLE_LINE)
        confidence = max(0, reader.MeanTextConf()) / 100.0 if text else 0.0
        return text.replace("\n", " "), confidence

    def _get_reader(self, language: str) -> Any:
        if language not in self._readers:
            self._readers[language] = tesserocr.PyTessBaseAPI(
                path=str(self._installed_models.folder),
                lang=language,
                psm=tesserocr.PSM.SINGLE_LINE,
                oem=tesserocr.OEM.LSTM_ONLY,
            )
        return self._readers[language]


def _prepare_crop(crop: Pixels) -> Pixels:
    """Grey, dark on light, 48 pixels high, with a quiet margin: what the recogniser was trained on."""
    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    scale = _LINE_HEIGHT_PX / max(1, grey.shape[0])
    interpolation = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    size = (max(8, round(grey.shape[1] * scale)), _LINE_HEIGHT_PX)
    grey = cv2.resize(grey, size, interpolation=interpolation)
    low, high = float(grey.min()), float(grey.max())
    grey = np.asarray((grey - low) * (255.0 / max(1.0, high - low)), dtype=np.uint8)
    threshold, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    if (grey > threshold).mean() < 0.5:
        grey = 255 - grey
    padded = cv2.copyMakeBorder(grey, _PAD_PX, _PAD_PX, _PAD_PX, _PAD_PX, cv2.BORDER_CONSTANT, value=(255,))
    return np.asarray(padded, dtype=np.uint8)
