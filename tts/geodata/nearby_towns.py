"""Towns by position: one-degree cells, then distances on the sphere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tts.domain.geo import DEGREE_KM, EARTH_RADIUS_KM, LatLon, arc_km, sphere_km, unit_vector, unit_vectors

Ints = npt.NDArray[Any]
_RINGS_DEG = (1, 3, 8, 20)  # degrees around a point that are looked at, one after the other
_TOWN_KIND = 0  # in the array of kinds
_BLOCK_CACHE_SIZE = 128
_POINT_CACHE_SIZE = 64  # a verifier asks for the town at a vote, and for the people around it
_COUNT_CACHE_SIZE = 4096
_MAX_CACHED_RING_DEG = 3  # larger ones hold megabytes


@dataclass(frozen=True, slots=True)
class _Block:
    """The towns of some neighbouring cells: numbers, populations, and (n, 3) unit vectors."""

    numbers: Ints
    population: Ints
    vectors: npt.NDArray[np.float64]


class NearbyTowns:
    """Look-ups over the gazetteer's arrays: `lat, lon, kind, population, cell_start, cell_places`.

    Blocks of cells are remembered: the rollouts of a photo, and whoever verifies them, ask about one neighbourhood.
    """

    def __init__(self, arrays: Mapping[str, Ints]) -> None:
        self._arrays = arrays
        self._read_block_cached = lru_cache(maxsize=_BLOCK_CACHE_SIZE)(self._read_block)
        self._find_closest_cached = lru_cache(maxsize=_POINT_CACHE_SIZE)(self._find_closest)
        self._count_people_cached = lru_cache(maxsize=_COUNT_CACHE_SIZE)(self._count_people)

    def towns(
        self, point: LatLon, *, limit: int, max_km: float, min_population: int = 0
    ) -> tuple[Ints, npt.NDArray[np.float64]]:
        """Numbers of at most `limit` towns within `max_km` km and their distances in km, nearest first."""
        for ring in _RINGS_DEG:
            row, column = cell_of(point.lat, point.lon)
            width = _columns_of_ring(point.lat, ring)
            block = (self._read_block_cached if ring <= _MAX_CACHED_RING_DEG else self._read_block)(
                row, column, ring, width
            )
            near, vectors = block.numbers, block.vectors
            if min_population:
                large = block.population >= min_population
                near, vectors = near[large], vectors[large]
            if not len(near):
                continue
            if len(near) > limit:
                chosen = np.argpartition(vectors @ -unit_vector(point), limit - 1)[:limit]
                near, vectors = near[chosen], vectors[chosen]
            km = sphere_km(point, vectors)
            if (
                ring == _RINGS_DEG[-1]
                or ring * DEGREE_KM > max_km
                or (len(near) == limit and km.max() <= _covered_km(point, ring))
            ):
                order = np.lexsort((near, km))
                order = order[km[order] <= max_km]
                return near[order], km[order]
        return np.empty(0, dtype=np.int64), np.empty(0)

    def town(self, point: LatLon, *, max_km: float) -> int | None:
        """Number of the town nearest to a point."""
        block, cosines = self._find_closest_cached(point.lat, point.lon)
        if len(block.numbers):
            nearest = int(cosines.argmax())
            if (km := arc_km(cosines[nearest])) <= _covered_km(point, _RINGS_DEG[0]):
                return int(block.numbers[nearest]) if km <= max_km else None
        numbers, _ = self.towns(point, limit=1, max_km=max_km)
        return int(numbers[0]) if len(numbers) else None

    def people(self, point: LatLon, *, limit: int, max_km: float) -> int:
        """People in the `limit` nearest towns within `max_km` km. A verifier asks for each vote at each step."""
        return self._count_people_cached(point.lat, point.lon, limit, max_km)

    def _count_people(self, lat: float, lon: float, limit: int, max_km: float) -> int:
        """Quicker than by `towns`: in no order."""
        point = LatLon(lat=lat, lon=lon)
        if max_km > _covered_km(point, _RINGS_DEG[0]):
            numbers, _ = self.towns(point, limit=limit, max_km=max_km)
            return int(self._arrays["population"][numbers].sum())
        block, cosines = self._find_closest_cached(lat, lon)
        near = np.flatnonzero(cosines >= math.cos(max_km / EARTH_RADIUS_KM))
        if len(near) > limit:
            near = near[np.argpartition(-cosines[near], limit - 1)[:limit]]
        return int(block.population[near].sum())

    def _find_closest(self, lat: float, lon: float) -> tuple[_Block, npt.NDArray[np.float64]]:
        """The towns in the smallest ring around a position, and the cosines of their angles to it."""
        ring = _RINGS_DEG[0]
        block = self._read_block_cached(*cell_of(lat, lon), ring, _columns_of_ring(lat, ring))
        return block, block.vectors @ unit_vector(LatLon(lat=lat, lon=lon))

    def _read_block(self, row: int, column: int, ring: int, width: int) -> _Block:
        """All towns in the cells `ring` rows and `width` columns around one."""
        columns = sorted({c % 360 for c in range(column - width, column + width + 1)})
        starts, places = self._arrays["cell_start"], self._arrays["cell_places"]
        parts = [
            places[starts[cell] : starts[cell + 1]]
            for r in range(max(0, row - ring), min(179, row + ring) + 1)
            for cell in (r * 360 + c for c in columns)
        ]
        near = np.concatenate(parts)
        near = near[self._arrays["kind"][near] == _TOWN_KIND]
        lat, lon = self._arrays["lat"][near].astype(float), self._arrays["lon"][near].astype(float)
        return _Block(near, self._arrays["population"][near], unit_vectors(lat, lon))


def _columns_of_ring(lat: float, ring: int) -> int:
    """How many columns on each side hold what lies as near as `ring` degrees of latitude."""
    return min(180, math.ceil(ring / max(0.05, math.cos(math.radians(min(87.0, abs(lat)))))))


def _covered_km(point: LatLon, ring: int) -> float:
    """Kilometres from the point that are surely inside the cells of a ring."""
    return ring * DEGREE_KM * max(0.1, math.cos(math.radians(min(89.0, abs(point.lat) + ring))))


def cell_of(lat: float, lon: float) -> tuple[int, int]:
    """Row and column of the one-degree cell a position lies in."""
    return min(179, int(lat + 90)), min(359, int(lon + 180))
