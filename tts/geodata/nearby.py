"""Towns by position: one-degree cells, then distances on the sphere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tts.domain.geo import LatLon

Ints = npt.NDArray[Any]
_RINGS = (1, 3, 8, 20)  # degrees around a point that are looked at, one after the other
_DEGREE_KM = 111.0
_EARTH_KM = 6371.0088
_TOWN = 0  # in the array of kinds


class Nearby:
    """Look-ups over the gazetteer's arrays: `lat, lon, kind, population, cell_start, cell_places`."""

    def __init__(self, arrays: Mapping[str, Ints]) -> None:
        self._a = arrays

    def towns(
        self, point: LatLon, *, limit: int, max_km: float, min_population: int = 0
    ) -> tuple[Ints, npt.NDArray[np.float64]]:
        """Numbers of at most `limit` towns within `max_km` km and their distances in km, nearest first."""
        for ring in _RINGS:
            near = self._around(point, ring)
            near = near[(self._a["kind"][near] == _TOWN) & (self._a["population"][near] >= min_population)]
            if not len(near):
                continue
            km = self._sphere_km(point, near)
            if len(near) > limit:
                chosen = np.argpartition(km, limit - 1)[:limit]
                near, km = near[chosen], km[chosen]
            if (
                ring == _RINGS[-1]
                or ring * _DEGREE_KM > max_km
                or (len(near) == limit and km.max() <= _sure(point, ring))
            ):
                order = np.lexsort((near, km))
                order = order[km[order] <= max_km]
                return near[order], km[order]
        return np.empty(0, dtype=np.int64), np.empty(0)

    def _around(self, point: LatLon, ring: int) -> Ints:
        """All places in the cells that touch the ring."""
        row, column = cell_of(point.lat, point.lon)
        widen = max(1.0, np.cos(np.radians(min(89.0, abs(point.lat) + ring))))
        width = min(180, int(np.ceil(ring / max(0.05, np.cos(np.radians(min(87.0, abs(point.lat)))))) * widen))
        columns = sorted({c % 360 for c in range(column - width, column + width + 1)})
        starts, places = self._a["cell_start"], self._a["cell_places"]
        parts = [
            places[starts[cell] : starts[cell + 1]]
            for r in range(max(0, row - ring), min(179, row + ring) + 1)
            for cell in (r * 360 + c for c in columns)
        ]
        return np.concatenate(parts)

    def _sphere_km(self, point: LatLon, places: Ints) -> npt.NDArray[np.float64]:
        lat, lon = np.radians(self._a["lat"][places].astype(float)), np.radians(self._a["lon"][places].astype(float))
        lat0, lon0 = np.radians(point.lat), np.radians(point.lon)
        half = np.sin((lat - lat0) / 2) ** 2 + np.cos(lat) * np.cos(lat0) * np.sin((lon - lon0) / 2) ** 2
        return np.asarray(2 * _EARTH_KM * np.arcsin(np.sqrt(np.minimum(1.0, half))))


def _sure(point: LatLon, ring: int) -> float:
    """Kilometres from the point that are surely inside the cells of a ring."""
    return float(ring * _DEGREE_KM * max(0.1, np.cos(np.radians(min(89.0, abs(point.lat) + ring)))))


def cell_of(lat: float, lon: float) -> tuple[int, int]:
    """Row and column of the one-degree cell a position lies in."""
    return min(179, int(lat + 90)), min(359, int(lon + 180))
