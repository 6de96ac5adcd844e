"""Which names stand on the tiles of a zoom, so that a name that crosses an edge is on both tiles.

Greedy placement within a frame, as on a picture (`labels.py`), would give two neighbours different names. Here a
name's fate depends on what lies near it only. Countries are placed once for a whole zoom. A town wants one place, right
of its dot; of the towns in one cell of a fixed grid only the greatest is considered. A town is written when all greater
towns that touch it are left out, found in `_ROUNDS` rounds; each round looks one name's length further, and the window
around a tile is wide enough for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tts.domain.geo import LatLon
from tts.geodata.gazetteer import KINDS, Gazetteer
from tts.geodata.maps.labels import Rect, grow_rect
from tts.geodata.maps.palette import Palette
from tts.geodata.maps.text_drawing import TextStyle, font, writable
from tts.geodata.maps.view import mercator_x, mercator_y

TILE_PX: Final = 256
CountryName = tuple[str, float, float, float]  # name, longitude and latitude of its middle, width in degrees
_MAX_NAME_PX: Final = 138  # of a town's name with its dot
_MAX_COUNTRY_NAME_PX: Final = 220
_ROUNDS: Final = 2
_REACH_PX: Final = _MAX_NAME_PX * (_ROUNDS + 1)
_CELL_PX: Final = 44
_GAP_PX: Final = 5
_MIN_POPULATION_BY_ZOOM: Final = (8_000_000, 5_000_000, 3_000_000, 1_000_000, 300_000, 60_000, 25_000, 8_000, 2_000)
_COUNTRY_ZOOMS: Final = range(2, 8)
# (narrower than px, letters px, spacing px)
_COUNTRY_NAME_SIZES: Final = ((80.0, 10, 1), (240.0, 12, 2), (np.inf, 14, 4))


@dataclass(frozen=True, slots=True)
class TileName:
    """A name in world pixels of its zoom: `box` is its text; (x, y) its dot, which an area's name has not."""

    text: str
    style: TextStyle
    box: Rect
    x: float
    y: float
    has_dot: bool


class TileNames:
    """Thread-safe. `countries` come in order of their size."""

    def __init__(self, gazetteer: Gazetteer, countries: Sequence[CountryName], palette: Palette) -> None:
        self._gazetteer = gazetteer
        self._palette = palette
        self._countries = tuple(countries)
        self._placed_names: dict[int, list[TileName]] = {}

    def on(self, zoom: int, x: int, y: int) -> list[TileName]:
        """Names that may touch a tile, those of countries first."""
        world = TILE_PX << zoom
        middle_x, middle_y = (x + 0.5) * TILE_PX, (y + 0.5) * TILE_PX
        areas = self._country_names(zoom)
        towns = _drop_collisions(list(self._candidate_towns(zoom, middle_x, middle_y)), areas, middle_x, world)
        return [name for name in [*areas, *towns] if _touches(name.box, middle_x, middle_y, world)]

    def _country_names(self, zoom: int) -> list[TileName]:
        if zoom not in _COUNTRY_ZOOMS:
            return []
        if zoom not in self._placed_names:
            self._placed_names[zoom] = list(self._fitting_countries(TILE_PX << zoom))
        return self._placed_names[zoom]

    def _fitting_countries(self, world: int) -> Iterator[TileName]:
        """Countries whose name fits into them; the larger first, none upon another."""
        taken: list[Rect] = []
        for name, lon, lat, width in self._countries:
            wide = width * world / 360.0
            size_px, spacing = next((size, gap) for most, size, gap in _COUNTRY_NAME_SIZES if wide < most)
            text = name.upper()
            long = text_width(text, size_px, self._palette.country.weight, spacing)
            if not writable(text) or long > min(0.95 * wide, _MAX_COUNTRY_NAME_PX):
                continue
            x, y = _world_px(np.array([lat]), np.array([lon]), world)
            box = _box(float(x[0]) - long / 2, float(y[0]), long, size_px)
            if any(box.touches(other) for other in taken):
                continue
            taken.append(grow_rect(box, _GAP_PX))
            style = replace(self._palette.country, size_px=size_px, spacing=spacing)
            yield TileName(text, style, box, float(x[0]), float(y[0]), has_dot=False)

    def _candidate_towns(self, zoom: int, middle_x: float, middle_y: float) -> Iterator[TileName]:
        """Towns around a tile that are the greatest of their cell, in order of importance."""
        lat, lon = self._gazetteer.positions()
        _, kind, population = self._gazetteer.columns()
        world = TILE_PX << zoom
        x, y = _world_px(lat, lon, world)
        x = middle_x + (x - middle_x + world / 2) % world - world / 2
        reach = TILE_PX / 2 + _REACH_PX
        near = (np.abs(x - middle_x) <= reach) & (np.abs(y - middle_y) <= reach) & (kind == KINDS.index("city"))
        least = _MIN_POPULATION_BY_ZOOM[zoom] if zoom < len(_MIN_POPULATION_BY_ZOOM) else 0
        (found,) = np.nonzero(near & (population >= least))
        cells = np.floor(x[found] % world / _CELL_PX) * 2**24 + np.floor(y[found] / _CELL_PX)
        for number in np.sort(found[np.unique(cells, return_index=True)[1]]):
            place = self._gazetteer.place(int(number))
            if "(" in place.name or not writable(place.name):  # `City (District 3)` says the city's name again
                continue
            style = next(style for people, style in self._palette.cities if place.population >= people)
            long = text_width(place.name, style.size_px, style.weight, style.spacing)
            if long + 8 <= _MAX_NAME_PX:
                at = float(x[number]), float(y[number])
                yield TileName(place.name, style, _box(at[0] + 6, at[1], long, style.size_px), *at, has_dot=True)


@lru_cache(maxsize=32768)
def text_width(text: str, size_px: int, weight: str, spacing: int) -> int:
    """Width of a line in pixels, without drawing it."""
    face = font(size_px, "strong" if weight == "strong" else "regular")
    return round(face.getlength(text)) + spacing * (len(text) - 1)


def _drop_collisions(towns: list[TileName], areas: list[TileName], middle_x: float, world: int) -> list[TileName]:
    boxes = [grow_rect(_rect_with_dot(town), _GAP_PX) for town in towns]
    near = _edges([_nearest_copy(area.box, middle_x, world) for area in areas])
    free = [not row.any() for row in _touching_boxes(_edges(boxes), near)]
    towns = [town for town, is_free in zip(towns, free, strict=True) if is_free]
    greater = _greater_neighbours([box for box, is_free in zip(boxes, free, strict=True) if is_free])
    written: list[bool | None] = [None] * len(towns)
    for _ in range(_ROUNDS + 1):
        earlier = list(written)
        for i, others in enumerate(greater):
            fates = [earlier[j] for j in others]
            if earlier[i] is None and True in fates:
                written[i] = False
            elif earlier[i] is None and None not in fates:
                written[i] = True
    return [town for town, yes in zip(towns, written, strict=True) if yes]


def _greater_neighbours(boxes: list[Rect]) -> list[list[int]]:
    """For each box, in order of importance, the earlier ones that it touches."""
    touching = _touching_boxes(_edges(boxes), _edges(boxes))
    return [[int(j) for j in np.flatnonzero(touching[i, :i])] for i in range(len(boxes))]


def _edges(boxes: Sequence[Rect]) -> npt.NDArray[np.int64]:
    return np.array([(box.left, box.top, box.right, box.bottom) for box in boxes], np.int64).reshape(-1, 4)


def _touching_boxes(ones: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of `ones` (rows) touch which of `others` (columns)."""
    (left, top, right, bottom), other = ones.T[:, :, None], others.T[:, None, :]
    return np.asarray((left < other[2]) & (other[0] < right) & (top < other[3]) & (other[1] < bottom))


def _world_px(lat: npt.NDArray[np.floating], lon: npt.NDArray[np.floating], world: int) -> tuple[
    npt.NDArray[np.floating], npt.NDArray[np.floating]
]:  # fmt: skip
    return mercator_x(lon) * world, mercator_y(lat) * world


def _box(left: float, middle_y: float, width: int, size_px: int) -> Rect:
    """Text of which the left edge and the middle line are known."""
    return Rect(round(left), round(middle_y - size_px * 0.5), round(left) + width, round(middle_y + size_px * 0.5))


def _rect_with_dot(town: TileName) -> Rect:
    return Rect(round(town.x) - 4, town.box.top, town.box.right, town.box.bottom)


def _nearest_copy(box: Rect, middle_x: float, world: int) -> Rect:
    """The copy of a box that is nearest to a column of the world, which repeats to both sides."""
    return _shifted(box, round((middle_x - (box.left + box.right) / 2) / world) * world)


def _shifted(box: Rect, by: int) -> Rect:
    return Rect(box.left + by, box.top, box.right + by, box.bottom)


def _touches(box: Rect, middle_x: float, middle_y: float, world: int) -> bool:
    half = TILE_PX // 2 + 12
    around = Rect(round(middle_x) - half, round(middle_y) - half, round(middle_x) + half, round(middle_y) + half)
    return any(_shifted(box, by).touches(around) for by in (-world, 0, world))


def tile_middle(zoom: int, x: int, y: int) -> LatLon:
    """The position at the middle of a tile."""
    world = 1 << zoom
    lat = np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * (y + 0.5) / world))))
    return LatLon(lat=float(lat), lon=(x + 0.5) / world * 360.0 - 180.0)
