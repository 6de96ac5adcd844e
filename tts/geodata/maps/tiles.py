"""Tiles of the whole world for a map that moves: 256 pixels, Web Mercator, zoom 0 to 10, drawn from the built data.

The same ground as on pictures (`cartographer.py`), without scale, pins and sources, which the map around them shows.
What is drawn by its surroundings (the band along a coast) is drawn with a margin that is cut off: no edge shows.
"""

from __future__ import annotations

import io
from typing import Final

import numpy as np
from PIL import Image

from tts.geodata.maps.cartographer import Cartographer, write_name
from tts.geodata.maps.ground import paint_ground
from tts.geodata.maps.labels import Name, PlacedName, Rect
from tts.geodata.maps.palette import PALETTES
from tts.geodata.maps.rasters import Pixels
from tts.geodata.maps.tile_names import TILE_PX, TileName, TileNames, tile_middle
from tts.geodata.maps.view import View

MAX_TILE_ZOOM: Final = 10
_MARGIN_PX = 16
_PALETTE = PALETTES["map"]


class TileArtist:
    """Draws tiles with the data of a cartographer. Thread-safe."""

    def __init__(self, cartographer: Cartographer) -> None:
        self._cartographer = cartographer
        countries = [(name, lon, lat, width) for name, lon, lat, _, width in cartographer.countries]
        self.names = TileNames(cartographer.gazetteer, countries, _PALETTE)

    def png(self, zoom: int, x: int, y: int) -> bytes:
        """A tile as PNG of 256 colours. `x` and `y` count from the upper left corner, below `2**zoom`."""
        picture = Image.fromarray(self.draw(zoom, x, y)).quantize(
            256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
        out = io.BytesIO()
        picture.save(out, "PNG", compress_level=6)
        return out.getvalue()

    def draw(self, zoom: int, x: int, y: int) -> Pixels:
        """A tile as RGB pixels."""
        side = TILE_PX + 2 * _MARGIN_PX
        view = View(tile_middle(zoom, x, y), zoom, side, side)
        ground = paint_ground(view, _PALETTE, self._cartographer.rasters, self._cartographer.shapes)
        left, top = round(x * TILE_PX - view.left), round(y * TILE_PX - view.top)
        canvas = np.ascontiguousarray(ground[top : top + TILE_PX, left : left + TILE_PX])
        world = TILE_PX << zoom
        for name in self.names.on(zoom, x, y):
            for shift in (-world, 0, world):
                write_name(canvas, _move_name(name, shift - x * TILE_PX, -y * TILE_PX), _PALETTE)
        return canvas


def _move_name(name: TileName, dx: int, dy: int) -> PlacedName:
    box = Rect(name.box.left + dx, name.box.top + dy, name.box.right + dx, name.box.bottom + dy)
    dot_px = (2.6 if name.style.weight == "strong" else 2.0) if name.has_dot else 0.0
    return PlacedName(Name(name.text, name.x + dx, name.y + dy, name.style, dot_px), box)
