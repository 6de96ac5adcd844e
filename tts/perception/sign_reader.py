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
from tts.latest_entries import LatestEntries
from tts.perception.ppocr import Pixels, PpOcr, Quad, cut_out
from tts.perception.script_recognition import ForeignLine, ForeignReader
from tts.perception.tesseract import Tesseract
from tts.perception.vietnamese import VietnameseReader

VERSION = "reader-6"
_W = weights("reading")
_MIN_CONFIDENCE = _W["least_confidence"]
_SURE_CONFIDENCE = _W["sure"]
_ZOOM_SIDE_PX = int(_W["zoom_side_px"])
_LANGUAGE_SIDE_PX = int(_W["asked_side_px"])
_MAX_ZOOM = _W["most_zoom"]
_MAX_LINES_IN_LANGUAGE = int(_W["lines_as"])
_MAX_UNREAD = int(_W["most_unread"])
_MIN_TALL_RATIO = _W["tall_ratio"]
_MARGINS = ((0.0, 0.0), (_W["margin_beside"], _W["margin_above"]), (0.0, -_W["cut_above"]))
_MAX_PHOTOS_KEPT = 64
_MIN_SHARE_OF_BOX = _W["share_of_box"]
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


@dataclass(frozen=True, slots=True)
class _View:
    """BGR pixels of a photo or of an enlarged box, the box's corner in photo pixels, the enlargement, and the lines
    in it, largest first."""

    pixels: Pixels
    origin: tuple[int, int]
    scale: float
    quads: list[Quad]


class SignReader:
    """Holds the recognisers. One instance a process; calls must not overlap (see `LocalPerception`)."""

    def __init__(self) -> None:
        self._ppocr = PpOcr()
        tesseract = Tesseract()
        self._foreign_reader = ForeignReader(tesseract)
        self._vietnamese_reader = VietnameseReader(tesseract)
        self._quads_by_photo: LatestEntries[str, list[Quad]] = LatestEntries(_MAX_PHOTOS_KEPT)

    def read(self, photo: Photo, box: Box | None = None, language: str = "") -> Reading:
        """Lines with their boxes in fractions of the *whole* photo, largest first.

        A box is enlarged before it is read, so small text in it becomes legible. With a `language` (BCP 47 primary
        tag) its reader reads every line, also those that look like something else; of a box around one line, this line
        as it was found in the whole photo.

        Raises:
            ToolError: where no reader has the language; the message names those there are.
        """
        if language:
            view = self._view_for_language(photo, box)
            quads = view.quads[:_MAX_LINES_IN_LANGUAGE]
            lines = [self._line_in_language(view.pixels, quad, language) for quad in quads]
        else:
            view = self._view(photo, box, _ZOOM_SIDE_PX)
            lines = self._foreign_lines(self._latin_lines(view), enlarged=box is not None)
            lines = self._vietnamese_lines(lines)
        kept: list[TextLine] = []
        unread: list[TextLine] = []
        for line in lines:
            legible = line.confidence >= _MIN_CONFIDENCE and _HAS_LETTER_OR_DIGIT.search(line.text)
            (kept if legible else unread).append(_text_line(line, photo, view))
        kept.sort(key=lambda line: (-line.height_px * len(line.text), line.box.y0, line.box.x0))
        return Reading(
            photo_sha256=photo.sha256,
            lines=tuple(kept),
            unread=tuple(line.box for line in unread[:_MAX_UNREAD]),
            warnings=self._foreign_reader.warnings,
            version=VERSION,
        )

    def _view(self, photo: Photo, box: Box | None, side_px: int) -> _View:
        pixels, origin, scale = _pixels(photo, box, side_px)
        return _View(pixels, origin, scale, self._ppocr.detect(pixels) if box else self._lines_of_photo(photo, pixels))

    def _view_for_language(self, photo: Photo, box: Box | None) -> _View:
        """What a box around one line has is this line, as it was found in the whole photo: in a small box, lines are
        found less well. Of any other box, the lines that are found in its enlarged pixels."""
        view = self._view(photo, None, _LANGUAGE_SIDE_PX)
        if box is not None and box.area < 1.0:
            lines = [quad for quad in view.quads if _is_centre_inside(quad, box, photo)]
            if len(lines) == 1 and _fills(lines[0], box, photo):
                return replace(view, quads=lines)
            view = self._view(photo, box, _LANGUAGE_SIDE_PX)
        height, width = view.pixels.shape[:2]
        everything = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
        return replace(view, quads=view.quads or [everything])

    def _lines_of_photo(self, photo: Photo, pixels: Pixels) -> list[Quad]:
        """The lines in a whole photo; kept, because a photo is read in several languages."""
        if photo.sha256 not in self._quads_by_photo:
            self._quads_by_photo[photo.sha256] = self._ppocr.detect(pixels)
        return self._quads_by_photo[photo.sha256]

    def _latin_lines(self, view: _View) -> list[_Line]:
        """Everything that was detected, as PP-OCR reads it in the best of its possible orientations."""
        pixels, quads = view.pixels, view.quads
        crops = [_views(cut_out(pixels, quad)) for quad in quads]
        read = iter(self._ppocr.recognise([view for views in crops for view in views]))
        lines = []
        for quad, views in zip(quads, crops, strict=True):
            found = [(view, *next(read)) for view in views]
            crop, text, confidence = max(found, key=lambda view: view[2] * bool(view[1]))
            lines.append(_Line(quad, crop, text, confidence if text else 0.0))
        return lines

    def _line_in_language(self, pixels: Pixels, quad: Quad, language: str) -> _Line:
        """The surest reading of a line as it was found, with more around it and with less; the others as alternatives.

        The marks above and below letters are often cut off, or letters of the next line are not.
        """
        crops = [cut_out(pixels, _with_margin(quad, *margin)) for margin in _MARGINS]
        read = [self._foreign_reader.read_as(crop, language) for crop in crops]
        best = max(read, key=lambda line: line.confidence)  # of equal ones the first: the line as it was found
        others = {line.text for line in read if line.confidence >= _MIN_CONFIDENCE and line.text != best.text}
        reader = f"tesseract:{best.language}"
        return _Line(quad, crops[0], best.text, best.confidence, reader, tuple(sorted(others)))

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


def _with_margin(quad: Quad, beside: float, above: float) -> Quad:
    """The quadrilateral with margins, in shares of its width and of its height; negative ones cut some of it off."""
    along, down = (quad[1] - quad[0]) * beside, (quad[3] - quad[0]) * above
    corners = [quad[0] - along - down, quad[1] + along - down, quad[2] + along + down, quad[3] - along + down]
    return np.asarray(corners, dtype=np.float32)


def _is_centre_inside(quad: Quad, box: Box, photo: Photo) -> bool:
    x, y = quad[:, 0].mean() / photo.width, quad[:, 1].mean() / photo.height
    return bool(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1)


def _fills(quad: Quad, box: Box, photo: Photo) -> bool:
    """Whether a box is about this line: the line takes much of it."""
    area = np.ptp(quad[:, 0]) / photo.width * np.ptp(quad[:, 1]) / photo.height
    return bool(area >= _MIN_SHARE_OF_BOX * box.area)


def _text_line(line: _Line, photo: Photo, view: _View) -> TextLine:
    x = np.clip((line.quad[:, 0] / view.scale + view.origin[0]) / photo.width, 0.0, 1.0)
    y = np.clip((line.quad[:, 1] / view.scale + view.origin[1]) / photo.height, 0.0, 1.0)
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
        height_px=round(float(np.linalg.norm(line.quad[3] - line.quad[0])) / view.scale, 1),
        reader=line.reader,
        alternatives=line.alternatives,
    )
