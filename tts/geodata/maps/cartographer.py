"""Draws a map: ground, circles, names, pins, scale and sources, in that order. About 40 ms for 500×500 pixels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from tts.errors import DataError
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.maps.furniture import (
    Patch,
    Pin,
    Ring,
    draw_areas,
    draw_pins,
    draw_strip,
    pin_boxes,
    strip_boxes,
)
from tts.geodata.maps.ground import paint_ground
from tts.geodata.maps.labels import Name, PlacedName, Sheet
from tts.geodata.maps.palette import PALETTES, Palette, Style
from tts.geodata.maps.rasters import Pixels, Rasters
from tts.geodata.maps.shapes import Shapes
from tts.geodata.maps.text_drawing import glyph_run, stamp, writable, write
from tts.geodata.maps.view import View

_PX_PER_CITY: Final = 7000  # a name for this many pixels of map, at most
_CANDIDATES = 200
_COUNTRY_ZOOMS = (1.5, 7.0)


class Cartographer:
    """Thread-safe; opening it maps files. Raises DataError when the data is not there or damaged.

    `countries` are name, longitude, latitude, area and width in degrees, the largest first.
    """

    def __init__(self, folder: Path, gazetteer: Gazetteer) -> None:
        try:
            self.rasters = Rasters(folder)
            self.shapes = Shapes(folder)
            self.countries: list[tuple[str, float, float, float, float]] = [
                (name, lon, lat, area, width)
                for name, lon, lat, area, width in json.loads((folder / "countries.json").read_text())
            ]
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"the map data is not readable ({error}): run `geotts data build`") from error
        self.gazetteer = gazetteer

    def draw(
        self, view: View, style: Style = "map", *, pins: Sequence[Pin] = (), areas: Sequence[Ring | Patch] = ()
    ) -> Image.Image:
        """The view as an RGB picture."""
        palette = PALETTES[style]
        canvas = paint_ground(view, palette, self.rasters, self.shapes)
        draw_areas(canvas, view, areas)
        for placed in self.names(view, style, pins=pins):
            write_name(canvas, placed, palette)
        draw_pins(canvas, view, pins)
        draw_strip(canvas, view, palette)
        return Image.fromarray(canvas)

    def names(self, view: View, style: Style = "map", *, pins: Sequence[Pin] = ()) -> list[PlacedName]:
        """The names the map carries, the most important first; no two touch."""
        palette = PALETTES[style]
        sheet = Sheet(view.width, view.height, [*pin_boxes(view, pins), *strip_boxes(view)])
        area = view.width * view.height
        placed = sheet.place(self._country_names(view, palette), limit=area // 6000)
        per_city = _PX_PER_CITY if view.zoom >= 3 else 2 * _PX_PER_CITY
        return placed + sheet.place(self._city_names(view, palette), limit=max(6, area // per_city))

    def _country_names(self, view: View, palette: Palette) -> Iterator[Name]:
        """Countries whose name fits into them, the largest first; on maps of regions and continents only."""
        if not _COUNTRY_ZOOMS[0] <= view.zoom <= _COUNTRY_ZOOMS[1]:
            return
        degree_px = view.world_px / 360.0
        for name, lon, lat, _, width in self.countries:
            (x,), (y,) = view.xy(np.array([lat]), np.array([lon]))
            if not (0 <= x < view.width and 0 <= y < view.height):
                continue
            wide = width * degree_px
            size_px, spacing = (10, 1) if wide < 80 else (12, 2) if wide < 240 else (14, 4)
            style = replace(palette.country, size_px=size_px, spacing=spacing)
            text = name.upper()
            if writable(text) and glyph_run(text, style.size_px, style.weight, style.spacing).width <= 0.95 * wide:
                yield Name(text, float(x), float(y), style)

    def _city_names(self, view: View, palette: Palette) -> Iterator[Name]:
        south, west, north, east = view.bounds
        places = self.gazetteer.places_inside(south, west, north, east, kinds=("city",), limit=_CANDIDATES)
        lat, lon = (np.array([getattr(place.point, axis) for place in places]) for axis in ("lat", "lon"))
        for place, x, y in zip(places, *view.xy(lat, lon), strict=True):
            if 4 <= x < view.width - 4 and 4 <= y < view.height - 4 and _is_plain(place.name):
                style = next(each for least, each in palette.cities if place.population >= least)
                yield Name(place.name, float(x), float(y), style, dot_px=2.6 if style.weight == "strong" else 2.0)


def write_name(canvas: Pixels, placed: PlacedName, palette: Palette) -> None:
    """Write a name with its dot; what falls outside the canvas is cut off."""
    name = placed.name
    if name.dot_px:
        for grown, colour in ((1.3, palette.dot_rim), (0.0, palette.dot)):
            _draw_dot(canvas, name.x, name.y, name.dot_px + grown, colour)
    write(canvas, name.text, placed.box.left, placed.box.top, name.style)


def _draw_dot(canvas: Pixels, x: float, y: float, radius: float, colour: tuple[int, int, int]) -> None:
    left, top, side = round(x) - 5, round(y) - 5, np.arange(10) + 0.5
    away = np.hypot(side[None, :] - (x - left), side[:, None] - (y - top))
    mask = (np.clip(radius + 0.5 - away, 0, 1) * 255).astype(np.uint8)
    stamp(canvas, mask, left, top, colour)


def _is_plain(name: str) -> bool:
    """Districts are given as `City (District 3)`, which says the city's name again."""
    return "(" not in name and writable(name)
