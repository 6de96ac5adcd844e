"""Pictures of the whole world, cut into JPEG tiles at halving sizes, and how a view is filled from them.

A pyramid covers 180° west … 180° east and 90° north … 90° south, plate carrée. Tiles are decoded when a view needs them
and the last few are kept.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt

from tts.geodata.maps.view import View
from tts.latest_entries import LatestEntries

Pixels = npt.NDArray[np.uint8]
TILE_PX: Final = 450
_TILE_CACHE_SIZE = 40
_JPEG_QUALITY = 91


class Raster(StrEnum):
    """`relief` and `earth` are land only, carried on under the sea so that a coast drawn over them has clean edges."""

    RELIEF = "relief"
    RELIEF_SEA = "relief_sea"
    EARTH = "earth"
    EARTH_SEA = "earth_sea"


class Rasters:
    """Reads pyramids. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self._index = {name: np.load(folder / f"{name.value}.npy") for name in Raster}
        self._paths = {name: folder / f"{name.value}.tiles" for name in Raster}
        self._cached_tiles: LatestEntries[tuple[Raster, int, int, int], Pixels] = LatestEntries(_TILE_CACHE_SIZE)
        self._lock = Lock()

    def show(self, raster: Raster, view: View, *, coarser: int = 0) -> Pixels:
        """The view as (height, width, 3) RGB; `coarser` takes a level that many halvings below the fitting one."""
        widths = self._widths(raster)
        degree_px = view.world_px / 360.0
        fitting = sum(width / 360.0 >= 2.0 * degree_px for width in widths) + coarser
        level = min(len(widths) - 1, fitting)
        scale = widths[level] / 360.0
        x = (view.longitudes(np.arange(view.width) + 0.5) + 180.0) * scale - 0.5
        y = (90.0 - view.latitudes(np.arange(view.height) + 0.5)) * scale - 0.5
        left, top = int(np.floor(x[0])) - 2, max(0, int(np.floor(y[0])) - 2)
        patch = self._patch(raster, level, left, top, int(x[-1]) + 4 - left, int(y[-1]) + 4 - top)
        columns, rows = np.meshgrid((x - left).astype(np.float32), (y - top).astype(np.float32))
        how = cv2.INTER_CUBIC if scale < degree_px else cv2.INTER_LINEAR
        return np.asarray(cv2.remap(patch, columns, rows, how, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)

    def _widths(self, raster: Raster) -> list[int]:
        """Widths of the levels, the finest first."""
        return [int(width) for width in dict.fromkeys(self._index[raster][:, 0])]

    def _patch(self, raster: Raster, level: int, left: int, top: int, width: int, height: int) -> Pixels:
        full = self._widths(raster)[level]
        tiles = full // TILE_PX
        height = min(height, full // 2 - top)
        patch = np.empty((height, width, 3), np.uint8)
        for row in range(top // TILE_PX, (top + height - 1) // TILE_PX + 1):
            for column in range(left // TILE_PX, (left + width - 1) // TILE_PX + 1):
                tile = self._tile(raster, level, row, column % tiles)
                y0, x0 = row * TILE_PX - top, column * TILE_PX - left
                ys, xs = slice(max(0, y0), min(height, y0 + TILE_PX)), slice(max(0, x0), min(width, x0 + TILE_PX))
                patch[ys, xs] = tile[ys.start - y0 : ys.stop - y0, xs.start - x0 : xs.stop - x0]
        return patch

    def _tile(self, raster: Raster, level: int, row: int, column: int) -> Pixels:
        key = (raster, level, row, column)
        with self._lock:
            if key in self._cached_tiles:
                self._cached_tiles.move_to_end(key)
                return self._cached_tiles[key]
        index = self._index[raster]
        width = self._widths(raster)[level]
        (at,) = np.flatnonzero((index[:, 0] == width) & (index[:, 1] == row) & (index[:, 2] == column))
        with self._paths[raster].open("rb") as file:
            file.seek(int(index[at, 3]))
            tile = decode_jpeg(file.read(int(index[at, 4])))
        with self._lock:
            self._cached_tiles[key] = tile
        return tile


def save_pyramid(folder: Path, raster: Raster, picture: Pixels, *, levels: int) -> None:
    """Cut an RGB picture of the world (width a multiple of `TILE_PX << (levels - 1)`) into a pyramid."""
    index: list[tuple[int, ...]] = []
    with (folder / f"{raster.value}.tiles").open("wb") as out:
        for _ in range(levels):
            height, width = picture.shape[:2]
            for row in range(-(-height // TILE_PX)):
                for column in range(width // TILE_PX):
                    tile = picture[row * TILE_PX : (row + 1) * TILE_PX, column * TILE_PX : (column + 1) * TILE_PX]
                    data = _encode_jpeg(tile)
                    index.append((width, row, column, out.tell(), len(data)))
                    out.write(data)
            picture = np.asarray(cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA), np.uint8)
    np.save(folder / f"{raster.value}.npy", np.array(index, np.int64))


def _encode_jpeg(rgb: Pixels) -> bytes:
    done, data = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    assert done, "OpenCV encodes every 8-bit picture"
    return bytes(data.tobytes())


def decode_jpeg(data: bytes) -> Pixels:
    """An RGB picture from bytes of our own making."""
    decoded: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)
