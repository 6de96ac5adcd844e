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

_MAX_CACHED_BYTES: Final = 24 * 2**20  # about two thousand tiles
_MAX_AT_ONCE = 2
_MAX_WAITING = 256  # what four screens ask for


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
        self._limiter = Limiter(_MAX_AT_ONCE, _MAX_WAITING)
        self._cached_tiles: OrderedDict[tuple[int, int, int], MapTile] = OrderedDict()
        self._cached_bytes = 0

    async def tile(self, zoom: int, x: int, y: int) -> MapTile:
        """The tile, which must exist at this zoom.

        Raises:
            Overloaded: too many wait for a tile already.
            DataError: the map data is not there.
        """
        key = (zoom, x, y)
        if key not in self._cached_tiles:
            async with self._limiter.slot():
                if key not in self._cached_tiles:
                    self._cache_tile(key, await asyncio.to_thread(self._draw, *key))
        self._cached_tiles.move_to_end(key)
        return self._cached_tiles[key]

    def _draw(self, zoom: int, x: int, y: int) -> MapTile:
        if self._artist is None:
            self._artist = TileArtist(self._cartographer())
        png = self._artist.png(zoom, x, y)
        return MapTile(png, f'"{hashlib.sha256(png).hexdigest()[:32]}"')

    def _cache_tile(self, key: tuple[int, int, int], tile: MapTile) -> None:
        self._cached_tiles[key] = tile
        self._cached_bytes += len(tile.png)
        while self._cached_bytes > _MAX_CACHED_BYTES and len(self._cached_tiles) > 1:
            self._cached_bytes -= len(self._cached_tiles.popitem(last=False)[1].png)
