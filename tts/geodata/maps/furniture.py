"""Draws the map furniture (the cartographers' term) on top of a map: circles, pins, numbered candidates, the scale bar,
sources and resolution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

import cv2
import numpy as np
from PIL import Image, ImageDraw

from tts.domain.geo import Floats, LatLon, circle_ring
from tts.geodata.maps.ground import Path, dash_lines, fill_areas, trace_lines
from tts.geodata.maps.labels import Rect
from tts.geodata.maps.palette import Palette
from tts.geodata.maps.rasters import Pixels
from tts.geodata.maps.text_drawing import PAD, Colour, TextStyle, glyph_run, stamp, write
from tts.geodata.maps.view import View, mercator_x

RED: Final[Colour] = (214, 40, 57)
BLUE: Final[Colour] = (29, 78, 156)
_PIN_SIZE_PX = (26, 36)
_STRIP_PX = 17
_MAX_SCALE_PX = 110
_MIN_WIDTH_FOR_SCALE_PX = 360  # a narrower map names its sources only
_MAX_SHARP_ZOOM = 5.5  # above it the pictures of the land are enlarged


@dataclass(frozen=True, slots=True)
class Ring:
    """A circle on the ground; a solid one is filled more, and its edge is not dashed."""

    centre: LatLon
    radius_km: float
    is_solid: bool = True


@dataclass(frozen=True, slots=True)
class Patch:
    """An area in one or more pieces, each a closed ring that is cut at the antimeridian; drawn like a circle."""

    rings: tuple[tuple[LatLon, ...], ...]
    is_solid: bool = True


@dataclass(frozen=True, slots=True)
class Pin:
    """The place a map is about (no number), or another candidate (with its number)."""

    point: LatLon
    number: int | None = None


def pin_boxes(view: View, pins: Sequence[Pin]) -> list[Rect]:
    """Where names may not stand."""
    boxes = []
    for pin in pins:
        x, y = (round(value) for value in view.pixel(pin.point))
        half, up, down = (_PIN_SIZE_PX[0] // 2, _PIN_SIZE_PX[1], 3) if pin.number is None else (10, 10, 10)
        boxes.append(Rect(x - half, y - up, x + half, y + down))
    return boxes


def draw_areas(canvas: Pixels, view: View, areas: Sequence[Ring | Patch]) -> None:
    """Draw circles and patches into `canvas`, which is changed in place."""
    for area in areas:
        outlines = (
            [_circle_outline(view, area)]
            if isinstance(area, Ring)
            else [_project_ring(view, ring) for ring in area.rings]
        )
        edges = (
            outlines if isinstance(area, Ring) else [path for ring in area.rings for path in _visible_edges(view, ring)]
        )
        stamp(canvas, fill_areas(view, outlines), 0, 0, RED, 0.13 if area.is_solid else 0.08)
        stamp(
            canvas,
            trace_lines(view, edges if area.is_solid else dash_lines(edges, 7, 5), 2 if area.is_solid else 1),
            0,
            0,
            RED,
            0.75,
        )


def draw_pins(canvas: Pixels, view: View, pins: Sequence[Pin]) -> None:
    """Candidates first, so that the answer's pin lies on top."""
    for pin in sorted(pins, key=lambda pin: pin.number is None):
        x, y = view.pixel(pin.point)
        if pin.number is not None:
            _draw_number(canvas, x, y, pin.number)
            continue
        shadow, rim, body, eye = _pin_masks()
        left, top = round(x) - shadow.shape[1] // 2, round(y) - shadow.shape[0] + 4
        for mask, colour, strength in (
            (shadow, (0, 0, 0), 0.35), (rim, (255, 255, 255), 1.0), (body, RED, 1.0), (eye, (255, 255, 255), 1.0),
        ):  # fmt: skip
            stamp(canvas, mask, left, top, colour, strength)


def strip_boxes(view: View) -> list[Rect]:
    """The scale bar and the line of sources at the bottom."""
    return [Rect(0, view.height - _STRIP_PX - 1, view.width, view.height)]


def draw_strip(canvas: Pixels, view: View, palette: Palette) -> None:
    """Scale bar at the left, sources at the right; before them the resolution where the land is enlarged."""
    top = view.height - _STRIP_PX
    canvas[top:] = cv2.addWeighted(canvas[top:], 0.3, np.full_like(canvas[top:], 250), 0.7, 0)
    style = palette.furniture
    length_px, text = scale_bar(view)
    room = view.width - 6
    if view.width >= _MIN_WIDTH_FOR_SCALE_PX:
        left, bottom = 7.0, view.height - 4.0
        right = left + length_px
        bar = np.array([[left, bottom - 4], [left, bottom], [right, bottom], [right, bottom - 4]])
        stamp(canvas, trace_lines(view, [bar], 1), 0, 0, style.colour)
        _draw_line(canvas, view, text, round(right) + 5, style)
        room -= round(right) + 11 + glyph_run(text, style.size_px, style.weight).width
    full = f"{palette.resolution} · {palette.sources}"
    fits = view.zoom > _MAX_SHARP_ZOOM and glyph_run(full, style.size_px, style.weight).width <= room
    shown = full if fits else palette.sources
    _draw_line(canvas, view, shown, view.width - 6 - glyph_run(shown, style.size_px, style.weight).width, style)


def scale_bar(view: View) -> tuple[float, str]:
    """A round distance that is at most 110 pixels long at the middle of the map, and its name."""
    longest_km = view.km_per_px * min(_MAX_SCALE_PX, view.width / 4)
    power = 10.0 ** math.floor(math.log10(longest_km))
    km = next(power * step for step in (5, 2, 1) if power * step <= longest_km)
    return km / view.km_per_px, f"{km:,.0f} km" if km >= 1 else f"{km * 1000:.0f} m"


def _draw_line(canvas: Pixels, view: View, text: str, left: int, style: TextStyle) -> None:
    run = glyph_run(text, style.size_px, style.weight)
    write(canvas, text, left, view.height - 5 - (run.baseline - PAD), style)


def _circle_outline(view: View, ring: Ring) -> Path:
    """The circle in pixels, unwrapped so that it stays in one piece across the antimeridian."""
    points = circle_ring(ring.centre, ring.radius_km, 96)
    x, y = view.xy(np.array([p.lat for p in points]), np.array([p.lon for p in points]))
    x = np.unwrap(x, period=view.world_px)
    middle = view.pixel(ring.centre)[0]
    return np.stack([x - view.world_px * np.round((x.mean() - middle) / view.world_px), y], axis=1)


def _project_ring(view: View, ring: Sequence[LatLon]) -> Path:
    """A ring in pixels, whole, on the copy of the world that is nearest to the middle of the view."""
    lon = np.array([point.lon for point in ring])
    x = (mercator_x(_eastern_longitudes(lon)) * view.world_px) - view.left
    y = view.xy(np.array([point.lat for point in ring]), lon)[1]
    return np.stack([x - view.world_px * np.round((x.mean() - view.width / 2) / view.world_px), y], axis=1)


def _eastern_longitudes(lon: Floats) -> Floats:
    """`LatLon` knows 180° east as 180° west: a piece in the east ends in the east."""
    return np.where((lon == -180.0) & (np.median(lon) > 0), 180.0, lon)


def _visible_edges(view: View, ring: Sequence[LatLon]) -> list[Path]:
    """The edge of a ring without the parts along the antimeridian, where it was cut, and along the poles."""
    piece = _project_ring(view, ring)
    drawn = [not _is_cut(a, b) for a, b in pairwise(ring)]
    starts = [i for i, one in enumerate(drawn) if one and (i == 0 or not drawn[i - 1])]
    return [piece[i : i + 1 + sum(1 for _ in takewhile(bool, drawn[i:]))] for i in starts]


def _is_cut(a: LatLon, b: LatLon) -> bool:
    return abs(a.lon) == abs(b.lon) == 180.0 or abs(a.lat) == abs(b.lat) == 90.0


def _draw_number(canvas: Pixels, x: float, y: float, number: int) -> None:
    left, top = round(x) - 10, round(y) - 10
    disc = _disc_masks()
    stamp(canvas, disc[0], left, top, (255, 255, 255))
    stamp(canvas, disc[1], left, top, BLUE)
    run = glyph_run(str(number), 11, "strong")
    style = TextStyle(11, "strong", (255, 255, 255), halo_strength=0.0)
    write(canvas, str(number), round(x - run.width / 2), round(y - run.height / 2), style)


@lru_cache(maxsize=1)
def _disc_masks() -> tuple[Pixels, Pixels]:
    def ball(radius: float) -> Pixels:
        return _draw_supersampled((20, 20), lambda draw, s: draw.ellipse(_disc_box(10 * s, 10 * s, radius * s), 255))

    return ball(9.0), ball(7.5)


@lru_cache(maxsize=1)
def _pin_masks() -> tuple[Pixels, Pixels, Pixels, Pixels]:
    """Shadow, rim, body and eye of the pin, whose tip is 4 pixels above the bottom of the masks."""
    width, height = _PIN_SIZE_PX[0] + 6, _PIN_SIZE_PX[1] + 8

    def drop(radius: float, inset: float) -> Pixels:
        def paint(draw: ImageDraw.ImageDraw, s: int) -> None:
            cx, cy, tip = width / 2 * s, (4 + 12) * s, (height - 4 - inset) * s
            draw.ellipse(_disc_box(cx, cy, radius * s), 255)
            slope = math.sqrt((tip - cy) ** 2 - (radius * s) ** 2) / (tip - cy)
            dx, dy = radius * s * slope, (radius * s) ** 2 / (tip - cy)
            draw.polygon([(cx - dx, cy + dy), (cx + dx, cy + dy), (cx, tip)], 255)

        return _draw_supersampled((width, height), paint)

    rim = drop(12, 0)
    shadow = np.asarray(cv2.GaussianBlur(np.roll(rim, 2, axis=0), (0, 0), 1.6), np.uint8)
    eye = _draw_supersampled(
        (width, height), lambda draw, s: draw.ellipse(_disc_box(width / 2 * s, 16 * s, 4.2 * s), 255)
    )
    return shadow, rim, drop(10.3, 3.2), eye


def _disc_box(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius


def _draw_supersampled(size: tuple[int, int], paint: Callable[[ImageDraw.ImageDraw, int], None]) -> Pixels:
    """A mask drawn at four times its size."""
    big = Image.new("L", (size[0] * 4, size[1] * 4))
    paint(ImageDraw.Draw(big), 4)
    return np.asarray(big.resize(size, Image.Resampling.BOX))
