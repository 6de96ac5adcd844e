"""The ground of a map: land and sea, lakes, rivers, borders. No text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from tts.geodata.maps.palette import Palette
from tts.geodata.maps.rasters import Pixels, Raster, Rasters
from tts.geodata.maps.shapes import Layer, Shapes
from tts.geodata.maps.text_drawing import Colour, stamp
from tts.geodata.maps.view import View

_FRACTION_BITS: Final = 4  # OpenCV takes sixteenths of a pixel
_SHADE_RANGE = (0.72, 1.35)
Path = npt.NDArray[np.float64]


def paint_ground(view: View, palette: Palette, rasters: Rasters, shapes: Shapes) -> Pixels:
    """An RGB picture of the view."""
    land = _land_pixels(view, palette, rasters)
    sea = _blend_with_paper(rasters.show(palette.sea, view), palette.water, palette.water_veil)
    dry = fill_areas(view, shapes.paths(Layer.LAND, view))
    wet = fill_areas(view, shapes.paths(Layer.LAKES, view))
    if palette.land is Raster.EARTH and view.zoom < 6:
        wet[:] = 0  # Blue Marble shows the great lakes itself
    share = cv2.multiply(dry, 255 - wet, scale=1 / 255.0**2, dtype=cv2.CV_32F)
    canvas = np.asarray(cv2.blendLinear(land, sea, share, 1.0 - share), np.uint8)
    if palette.veil:
        _deepen_shore(canvas, dry, palette)
    _draw_lines(canvas, view, palette, shapes)
    return canvas


def fill_areas(view: View, paths: Iterable[Path]) -> Pixels:
    """Coverage of areas, holes by the even-odd rule."""
    mask = np.zeros((view.height, view.width), np.uint8)
    areas = [fixed_point(path) for path in paths]
    if areas:
        cv2.fillPoly(mask, areas, (255,), cv2.LINE_AA, _FRACTION_BITS)
    return mask


def trace_lines(view: View, paths: Iterable[Path], width_px: int) -> Pixels:
    """Coverage of lines."""
    mask = np.zeros((view.height, view.width), np.uint8)
    lines = [fixed_point(path) for path in paths]
    if lines:
        cv2.polylines(mask, lines, False, (255,), width_px, cv2.LINE_AA, _FRACTION_BITS)
    return mask


def fixed_point(path: Path) -> npt.NDArray[np.int32]:
    """Pixels of a path as the integers with `_FRACTION_BITS` fractional bits that OpenCV draws from."""
    return np.round(path * (1 << _FRACTION_BITS)).astype(np.int32)


def dash_lines(paths: Iterable[Path], dash_px: float, gap_px: float, view: View | None = None) -> list[Path]:
    """Pieces of `dash_px` along the lines, `gap_px` apart; with a view only those near it."""
    pieces: list[Path] = []
    period = dash_px + gap_px
    for path in paths:
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
        for first, last in _visible_runs(path, view, period):
            begin = np.ceil(max(0.0, along[first] - dash_px) / period) * period
            for start in np.arange(begin, along[last], period):
                ends = np.array([start, min(along[-1], start + dash_px)])
                inner = along[np.searchsorted(along, ends[0], "right") : np.searchsorted(along, ends[1], "left")]
                at = np.concatenate([ends[:1], inner, ends[1:]])
                pieces.append(np.stack([np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1])], axis=1))
    return pieces


def _visible_runs(path: Path, view: View | None, reach: float) -> list[tuple[int, int]]:
    """First and last points of the stretches of a path that come near a view; the whole path without one."""
    if view is None:
        return [(0, len(path) - 1)]
    low, high = np.minimum(path[:-1], path[1:]) - reach, np.maximum(path[:-1], path[1:]) + reach
    near = (low[:, 0] <= view.width) & (high[:, 0] >= 0) & (low[:, 1] <= view.height) & (high[:, 1] >= 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], near.astype(np.int8), [0]])))
    return [(int(begin), int(end)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _land_pixels(view: View, palette: Palette, rasters: Rasters) -> Pixels:
    picture = rasters.show(palette.land, view)
    if palette.land is Raster.EARTH:
        return _add_shade(picture, view, rasters)
    return _blend_with_paper(picture, palette.paper, palette.veil)


def _add_shade(picture: Pixels, view: View, rasters: Rasters) -> Pixels:
    """Blue Marble with the finer light and shade of the relief laid over it, and brightened as screens need it."""
    bright = np.power(picture.astype(np.float32) / 255.0, 0.82) * 255.0
    if view.zoom >= 4:
        fine = cv2.cvtColor(rasters.show(Raster.RELIEF, view), cv2.COLOR_RGB2GRAY).astype(np.float32)
        soft = cv2.cvtColor(rasters.show(Raster.RELIEF, view, coarser=2), cv2.COLOR_RGB2GRAY).astype(np.float32)
        bright *= np.clip((fine + 8.0) / (soft + 8.0), *_SHADE_RANGE)[..., None]
    return np.asarray(np.clip(bright, 0, 255), np.uint8)


def _blend_with_paper(picture: Pixels, paper: Colour, share: float) -> Pixels:
    flat = np.empty_like(picture)
    flat[:] = paper
    return np.asarray(cv2.addWeighted(picture, 1.0 - share, flat, share, 0.0), np.uint8)


def _deepen_shore(canvas: Pixels, dry: Pixels, palette: Palette) -> None:
    """A soft band of deeper blue along the coast, as atlases have it."""
    near = cv2.GaussianBlur(dry, (0, 0), 5.0)
    band = cv2.multiply(near, 255 - dry, scale=1 / 255.0)
    stamp(canvas, np.asarray(band, np.uint8), 0, 0, palette.coast, 0.45)


def _draw_lines(canvas: Pixels, view: View, palette: Palette, shapes: Shapes) -> None:
    def draw(mask: Pixels, colour: Colour, strength: float) -> None:
        stamp(canvas, mask, 0, 0, colour, strength)

    if view.zoom >= 3:
        draw(trace_lines(view, _long_paths(shapes.paths(Layer.RIVERS, view), view), 1), palette.river, 0.8)
    draw(trace_lines(view, shapes.paths(Layer.LAKES, view), 1), palette.coast, 0.5)
    draw(trace_lines(view, shapes.paths(Layer.COAST, view), 1), palette.coast, 0.9)
    if view.zoom >= 4:
        draw(trace_lines(view, dash_lines(shapes.paths(Layer.STATES, view), 5, 3, view), 1), palette.state, 0.75)
    borders = list(shapes.paths(Layer.BORDERS, view))
    draw(trace_lines(view, borders, 3), palette.border_casing, 0.45)
    draw(trace_lines(view, borders, 1), palette.border, 0.95)
    draw(trace_lines(view, dash_lines(shapes.paths(Layer.DISPUTED, view), 4, 4, view), 1), palette.border, 0.8)


def _long_paths(paths: Iterable[Path], view: View) -> list[Path]:
    """Rivers that are more than a scratch at this zoom."""
    least = 12.0 if view.zoom < 7 else 0.0
    return [path for path in paths if np.abs(path.max(axis=0) - path.min(axis=0)).max() >= least]
