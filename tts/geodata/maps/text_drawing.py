"""Text on maps: glyph runs as coverage masks, with a halo that keeps them legible on any ground.

Masks are kept, because the same towns are written again and again. The fonts ship with the project (Latin, Greek and
Cyrillic); what they cannot write is said by `writable`, never drawn as boxes.
"""

from __future__ import annotations

import importlib.resources
import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tts.geodata.maps.rasters import Pixels

Weight = Literal["regular", "strong"]
Colour = tuple[int, int, int]
PAD: Final = 3  # pixels around the glyphs, for the halo
_UNDEFINED_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How a text looks. `spacing` is extra pixels between letters; a halo strength of 0 leaves it out."""

    size_px: int
    weight: Weight
    colour: Colour
    halo: Colour = (255, 255, 255)
    halo_strength: float = 0.85
    spacing: int = 0


@dataclass(frozen=True, slots=True)
class GlyphRun:
    """Coverage (0…255) of a text and of its halo, both padded by `PAD`; `baseline` is a row of them."""

    ink: Pixels
    halo: Pixels
    baseline: int

    @property
    def width(self) -> int:
        """Width of the text in pixels, without the padding."""
        return int(self.ink.shape[1]) - 2 * PAD

    @property
    def height(self) -> int:
        """Height of the text in pixels, without the padding."""
        return int(self.ink.shape[0]) - 2 * PAD


@lru_cache(maxsize=64)
def font(size_px: int, weight: Weight) -> ImageFont.FreeTypeFont:
    """A font that ships with the project, opened once for each size and weight."""
    data = importlib.resources.files("tts").joinpath(f"data/maps/{weight}.ttf").read_bytes()
    return ImageFont.truetype(io.BytesIO(data), size_px)


@lru_cache(maxsize=4096)
def glyph_run(text: str, size_px: int, weight: Weight, spacing: int = 0) -> GlyphRun:
    """The masks of one line of text."""
    face = font(size_px, weight)
    ascent, descent = face.getmetrics()
    pieces = list(text) if spacing else [text]
    width = round(sum(face.getlength(piece) for piece in pieces)) + spacing * (len(pieces) - 1)
    image = Image.new("L", (max(1, width) + 2 * PAD, ascent + descent + 2 * PAD))
    draw = ImageDraw.Draw(image)
    x = float(PAD)
    for piece in pieces:
        draw.text((x, PAD + ascent), piece, fill=255, font=face, anchor="ls")
        x += face.getlength(piece) + spacing
    ink = np.asarray(image)
    inked = np.flatnonzero(ink.any(axis=1))
    top, bottom = (int(inked[0]), int(inked[-1]) + 1) if len(inked) else (PAD, PAD + ascent)
    ink = np.ascontiguousarray(ink[max(0, top - PAD) : bottom + PAD])
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    halo = np.asarray(cv2.GaussianBlur(cv2.dilate(ink, disc), (3, 3), 0), np.uint8)
    return GlyphRun(ink, halo, PAD + ascent - max(0, top - PAD))


@lru_cache(maxsize=4096)
def _has_glyph(char: str, weight: Weight) -> bool:
    face = font(16, weight)
    return char.isspace() or bytes(face.getmask(char)) != bytes(face.getmask(_UNDEFINED_CHARACTER))


def writable(text: str) -> bool:
    """Whether the fonts have a glyph for every character."""
    return all(_has_glyph(char, "regular") for char in text)


def write(canvas: Pixels, text: str, left: int, top: int, style: TextStyle) -> None:
    """Write with the upper left corner of the glyphs at (left, top); what falls outside is cut off."""
    run = glyph_run(text, style.size_px, style.weight, style.spacing)
    if style.halo_strength:
        stamp(canvas, run.halo, left - PAD, top - PAD, style.halo, style.halo_strength)
    stamp(canvas, run.ink, left - PAD, top - PAD, style.colour)


def stamp(canvas: Pixels, mask: Pixels, left: int, top: int, colour: Colour, strength: float = 1.0) -> None:
    """Blend a colour into the canvas through a mask whose upper left corner lies at (left, top)."""
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(canvas.shape[1], left + mask.shape[1]), min(canvas.shape[0], top + mask.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    share = mask[y0 - top : y1 - top, x0 - left : x1 - left].astype(np.float32) * (strength / 255.0)
    under = np.ascontiguousarray(canvas[y0:y1, x0:x1])
    paint = np.empty_like(under)
    paint[:] = colour
    canvas[y0:y1, x0:x1] = cv2.blendLinear(paint, under, share, 1.0 - share)
