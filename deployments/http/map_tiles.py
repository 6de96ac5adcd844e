"""Draws the tiles of the page's map on request, and keeps the latest ones."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tts.aio.limits import Limiter
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.maps.tiles import TileArtist

_KEPT_BYTES: Final = 24 * 2**20  # about two thousand tiles
_AT_ONCE = 2
_WAITING = 256  # what four screens ask for


@dataclass(frozen=True, slots=True)
class MapTile:
    """A PNG, and its `etag` with quotation marks."""

    png: bytes
    etag: str


class MapTiles:
    """Draws in threads, two at once. `cartographer` opens the map data; it is asked with the first tile."""

    def __init__(self, cartographer: Callable[[], Cartographer]) -> None:
        self._cartographer = cartographer
        self._artist: TileArtist | None = None
        self._limiter = Limiter(_AT_ONCE, _WAITING)
        self._kept: OrderedDict[tuple[int, int, int], MapTile] = OrderedDict()
        self._size = 0

    async def tile(self, zoom: int, x: int, y: int) -> MapTile:
        """The tile, which must exist at this zoom.

        Raises:
            Overloaded: too many wait for a tile already.
            DataError: the map data is not there.
        """
        key = (zoom, x, y)
        if key not in self._kept:
            async with self._limiter.slot():
                if key not in self._kept:
                    self._keep(key, await asyncio.to_thread(self._draw, *key))
        self._kept.move_to_end(key)
        return self._kept[key]

    def _draw(self, zoom: int, x: int, y: int) -> MapTile:
        if self._artist is None:
            self._artist = TileArtist(self._cartographer())
        png = self._artist.png(zoom, x, y)
        return MapTile(png, f'"{hashlib.sha256(png).hexdigest()[:32]}"')

    def _keep(self, key: tuple[int, int, int], tile: MapTile) -> None:
        self._kept[key] = tile
        self._size += len(tile.png)
        while self._size > _KEPT_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1].png)
