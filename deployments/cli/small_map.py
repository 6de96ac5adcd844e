"""Draws a map of braille characters: where people live around a point, and the point itself."""

from __future__ import annotations

import math

import numpy as np

from tts.domain.geo import DEGREE_KM, LatLon
from tts.geodata.gazetteer import Gazetteer

_BRAILLE_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_POINT_MARK = "◎"


def small_map(gazetteer: Gazetteer, point: LatLon, *, span_km: float, width: int = 44, height: int = 13) -> list[str]:
    """Lines of `width` characters that show about `span_km` from top to bottom.

    Every town is a dot, so land shows as density.
    """
    lat, lon = gazetteer.positions()
    half_lat = max(0.5, span_km / DEGREE_KM / 2)
    half_lon = min(180.0, half_lat * (width * 2) / (height * 4) / max(0.05, math.cos(math.radians(point.lat))))
    x = ((lon - point.lon + 180.0) % 360.0 - 180.0) / half_lon
    y = (point.lat - lat) / half_lat
    inside = (np.abs(x) < 1) & (np.abs(y) < 1)
    column = ((x[inside] + 1) / 2 * (width * 2)).astype(int)
    row = ((y[inside] + 1) / 2 * (height * 4)).astype(int)
    cells = np.zeros((height, width), dtype=int)
    for r in range(4):
        for c in range(2):
            here = (row % 4 == r) & (column % 2 == c)
            np.bitwise_or.at(cells, (row[here] // 4, column[here] // 2), _BRAILLE_BITS[r][c])
    lines = ["".join(chr(0x2800 + int(cell)) for cell in line) for line in cells]
    middle = lines[height // 2]
    lines[height // 2] = middle[: width // 2] + _POINT_MARK + middle[width // 2 + 1 :]
    return lines
