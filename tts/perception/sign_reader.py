"""Reads signs: one photo (or a box of it) in, one `Reading` out. Deterministic; about 0.4 s a photo on one core.

PP-OCR finds the lines and reads Latin, Chinese and Japanese. What it cannot read well, the largest first, goes through
Tesseract in every installed script; the script that is surest of itself reads the rest. Lettering that looks Latin but
spells a Cyrillic or Greek word is kept with both readings.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np

from tts.decision_weights import weights
from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading, TextLine
from tts.geodata.names import script_of
from tts.perception.ppocr import Pixels, PpOcr, Quad, cut_out
from tts.perception.script_recognition import ForeignLine, ForeignReader
from tts.perception.tesseract import Tesseract
from tts.perception.vietnamese import VietnameseReader

VERSION = "reader-5"
_W = weights("reading")
_MIN_CONFIDENCE = _W["least_confidence"]
_SURE_CONFIDENCE = _W["sure"]
_ZOOM_SIDE_PX = int(_W["zoom_side_px"])
_LANGUAGE_SIDE_PX = int(_W["asked_side_px"])
_MAX_ZOOM = _W["most_zoom"]
_MAX_LINES_IN_LANGUAGE = int(_W["lines_as"])
_MAX_UNREAD = int(_W["most_unread"])
_MIN_TALL_RATIO = _W["tall_ratio"]
_HAS_LETTER_OR_DIGIT = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Line:
    """A detected line on its way to a `TextLine`."""

    quad: Quad
    crop: Pixels
    text: str
    confidence: float
    reader: str = "ppocr"
    alternatives: tuple[str, ...] = ()

    def read_by(self, found: ForeignLine, alternatives: tuple[str, ...]) -> _Line:
        """The reading of the same line by Tesseract."""
        return replace(
            self,
            text=found.text,
            confidence=found.confidence,
            reader=f"tesseract:{found.language}",
            alternatives=alternatives,
        )


class SignReader:
    """Holds the recognisers. One instance a process; calls must not overlap (see `LocalPerception`)."""

    def __init__(self) -> None:
        self._ppocr = PpOcr()
        tesseract = Tesseract()
        self._foreign_reader = ForeignReader(tesseract)
        self._vietnamese_reader = VietnameseReader(tesseract)

    def read(self, photo: Photo, box: Box | None = None, language: str = "") -> Reading:
        """Lines with their boxes in fractions of the *whole* photo, largest first.

        A box is enlarged before it is read, so small text in it becomes legible. With a `language` (BCP 47 primary
        tag) its reader reads every line, also those that look like something else.

        Raises:
            ToolError: where no reader has the language; the message names those there are.
        """
        pixels, origin, scale = _pixels(photo, box, _LANGUAGE_SIDE_PX if language else _ZOOM_SIDE_PX)
        if language:
            lines = self._lines_in_language(pixels, language)
        else:
            lines = self._foreign_lines(self._latin_lines(pixels), enlarged=box is not None)
            lines = self._vietnamese_lines(lines)
        kept: list[TextLine] = []
        unread: list[TextLine] = []
        for line in lines:
            legible = line.confidence >= _MIN_CONFIDENCE and _HAS_LETTER_OR_DIGIT.search(line.text)
            (kept if legible else unread).append(_text_line(line, photo, origin, scale))
        kept.sort(key=lambda line: (-line.height_px * len(line.text), line.box.y0, line.box.x0))
        return Reading(
            photo_sha256=photo.sha256,
            lines=tuple(kept),
            unread=tuple(line.box for line in unread[:_MAX_UNREAD]),
            warnings=self._foreign_reader.warnings,
            version=VERSION,
        )

    def _latin_lines(self, pixels: Pixels) -> list[_Line]:
        """Everything that was detected, as PP-OCR reads it in the best of its possible orientations."""
        quads = self._ppocr.detect(pixels)
        crops = [_views(cut_out(pixels, quad)) for quad in quads]
        read = iter(self._ppocr.recognise([view for views in crops for view in views]))
        lines = []
        for quad, views in zip(quads, crops, strict=True):
            found = [(view, *next(read)) for view in views]
            crop, text, confidence = max(found, key=lambda view: view[2] * bool(view[1]))
            lines.append(_Line(quad, crop, text, confidence if text else 0.0))
        return lines

    def _lines_in_language(self, pixels: Pixels, language: str) -> list[_Line]:
        """Every detected line in one language; the whole picture is the line where none is detected."""
        height, width = pixels.shape[:2]
        whole = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
        lines = []
        for quad in self._ppocr.detect(pixels)[:_MAX_LINES_IN_LANGUAGE] or [whole]:
            crop = cut_out(pixels, quad)
            found = self._foreign_reader.read_as(crop, language)
            lines.append(_Line(quad, crop, found.text, found.confidence, f"tesseract:{found.language}"))
        return lines

    def _foreign_lines(self, lines: list[_Line], *, enlarged: bool) -> list[_Line]:
        """Replace what PP-OCR could not read; add second readings where letters look alike."""
        doubtful = {i for i, line in enumerate(lines) if line.confidence < _SURE_CONFIDENCE or not line.text}
        found = self._foreign_reader.read({i: lines[i].crop for i in sorted(doubtful)}, enlarged=enlarged)
        for i, reading in found.items():
            lines[i] = lines[i].read_by(reading, (lines[i].text,) if lines[i].confidence >= _MIN_CONFIDENCE else ())
        sure = {i: line for i, line in enumerate(lines) if i not in doubtful and line.reader == "ppocr"}
        scripts = {reading.language for reading in found.values()}
        twins = self._foreign_reader.look_alikes({i: (line.crop, line.text) for i, line in sure.items()}, scripts)
        for i, reading in twins.items():
            lines[i] = replace(lines[i], alternatives=(reading.text,))
        return lines

    def _vietnamese_lines(self, lines: list[_Line]) -> list[_Line]:
        """Insert the letters that PP-OCR left out, if some of its lines are Vietnamese."""
        latin = {i: (line.crop, line.text) for i, line in enumerate(lines) if line.reader == "ppocr"}
        for i, found in self._vietnamese_reader.read(latin).items():
            lines[i] = lines[i].read_by(found, (lines[i].text,))
        return lines


def _pixels(photo: Photo, box: Box | None, side_px: int) -> tuple[Pixels, tuple[int, int], float]:
    """BGR pixels of the photo or an enlarged box, the box's corner in photo pixels, and the enlargement."""
    picture = photo.image()
    left = top = 0
    scale = 1.0
    if box is not None:
        left, top, right, bottom = box.pixels(photo.width, photo.height)
        picture = picture.crop((left, top, right, bottom))
        scale = min(_MAX_ZOOM, max(1.0, side_px / max(picture.size)))
        if scale > 1.0:
            picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    return np.asarray(cv2.cvtColor(np.asarray(picture), cv2.COLOR_RGB2BGR), dtype=np.uint8), (left, top), scale


def _views(crop: Pixels) -> list[Pixels]:
    """The ways a line picture may have to be held: as it is, or, when it is tall, turned or its signs set in a row."""
    height, width = crop.shape[:2]
    if height < _MIN_TALL_RATIO * width:
        return [crop]
    turned = [np.rot90(crop, quarter).copy() for quarter in (1, 3)]
    return [*turned, _signs_in_a_row(crop)]


def _signs_in_a_row(crop: Pixels) -> Pixels:
    """The signs of a vertical line beside each other: how Chinese and Japanese shop signs hang."""
    height, width = crop.shape[:2]
    count = max(1, round(height / width))
    edges = np.linspace(0, height, count + 1).astype(int).tolist()
    tiles = [cv2.resize(crop[a:b], (width, width)) for a, b in pairwise(edges) if b > a]
    return np.asarray(np.concatenate(tiles, axis=1), dtype=np.uint8)


def _text_line(line: _Line, photo: Photo, origin: tuple[int, int], scale: float) -> TextLine:
    x = np.clip((line.quad[:, 0] / scale + origin[0]) / photo.width, 0.0, 1.0)
    y = np.clip((line.quad[:, 1] / scale + origin[1]) / photo.height, 0.0, 1.0)
    x0, y0 = min(float(x.min()), 0.9998), min(float(y.min()), 0.9998)
    along = line.quad[1] - line.quad[0]
    return TextLine(
        text=line.text,
        box=Box(
            x0=round(x0, 4),
            y0=round(y0, 4),
            x1=round(max(float(x.max()), x0 + 2e-4), 4),
            y1=round(max(float(y.max()), y0 + 2e-4), 4),
        ),
        confidence=round(min(1.0, line.confidence), 3),
        script=script_of(line.text),
        angle_deg=round(math.degrees(math.atan2(float(along[1]), float(along[0]))), 1),
        height_px=round(float(np.linalg.norm(line.quad[3] - line.quad[0])) / scale, 1),
        reader=line.reader,
        alternatives=line.alternatives,
    )
