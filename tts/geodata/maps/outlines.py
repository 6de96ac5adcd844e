"""Outlines of countries and their first-order divisions, from the borders that the maps are drawn from.

The borders have no names. What they surround belongs to the country at a point inside it. The maps have no divisions
for most countries: to a division belongs what lies nearest to one of its towns, which is also how a check decides
whether a point lies in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import shapely
from shapely.affinity import scale, translate
from shapely.geometry import LineString, MultiPoint, Point, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from tts.domain.geo import LatLon
from tts.domain.outline import Outline
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import KINDS, Gazetteer
from tts.geodata.maps.shapes import Detail, Layer, Shapes
from tts.geodata.maps.view import degrees_of

BORDERS: Final = "Natural Earth, simplified"
NEAREST_TOWNS: Final = "approximate: what lies nearest to a town of this region"
_MAX_PARTS = 80
_MIN_TOLERANCE_DEG = 0.005
_MAX_TOLERANCE_DEG = 0.1
_TOLERANCES_PER_SIDE = 150  # the side of a square as large as the area, in tolerances
_GRID_DEG = 1e-4
_STORED_DIGITS = 3  # the borders ship in steps of 0.002 degrees


class Outlines:
    """Thread-safe. The first outline takes some seconds, because every island and country of the map gets its code."""

    def __init__(self, shapes: Shapes, gazetteer: Gazetteer, countries: Countries) -> None:
        self._shapes = shapes
        self._gazetteer = gazetteer
        self._countries = countries

    def outline_of(self, codes: Sequence[str], region: str = "") -> Outline | None:
        """The outline of countries (ISO 3166-1 alpha-2 codes) together, or of the `region` of that name in them.

        None where the maps have no area for it, or the region has no town.
        """
        return self._make_outline(tuple(codes), region)

    @lru_cache(maxsize=256)  # noqa: B019  outlines live as long as their process
    def _make_outline(self, codes: tuple[str, ...], region: str) -> Outline | None:
        lands = [land for land in (self._country(code) for code in codes) if not land.is_empty]
        if region:
            lands = [part for code in codes if not (part := self._region(code, region)).is_empty]
        if not lands:
            return None
        parts = _simplify_area(shapely.union_all(lands))
        if not parts:
            return None
        inner = parts[0].representative_point()
        rings = [[_ring(line) for line in (part.exterior, *part.interiors)] for part in parts]
        geometry = {"type": "MultiPolygon", "coordinates": rings}
        return Outline(geometry, LatLon(lat=inner.y, lon=inner.x), NEAREST_TOWNS if region else BORDERS)

    @cached_property
    def _areas_with_countries(self) -> tuple[list[Polygon], list[str]]:
        """What coasts and borders surround, between -180 and 180 degrees, and the code of the country; "" for none."""
        layers = (Layer.COAST, Layer.BORDERS, Layer.DISPUTED)
        lines = [degrees_of(path) for layer in layers for path in self._shapes.all_paths(layer, Detail.FINE)]
        pieces = [_snap_line(piece) for line in lines for piece in _lines(_wrap_line(LineString(line)))]
        faces = _enclosed_areas(pieces)
        points = [face.representative_point() for face in faces]
        dry = self._are_on_land(points)
        return faces, [self._country_code_at(point) if land else "" for point, land in zip(points, dry, strict=True)]

    def _are_on_land(self, points: Sequence[Point]) -> list[bool]:
        """Whether each point lies on land: in an odd number of closed paths."""
        rings = [Polygon(degrees_of(path)) for path in self._shapes.all_paths(Layer.LAND, Detail.FINE) if len(path) > 3]
        times, at = np.zeros(len(points), np.int64), shapely.get_coordinates(points)
        for turn in (-360.0, 0.0, 360.0):
            tree = shapely.STRtree(shapely.points(at[:, 0] + turn, at[:, 1]))
            _, inside = tree.query(rings, predicate="contains")
            times += np.bincount(inside, minlength=len(points))
        return [bool(count % 2) for count in times]

    def _country_code_at(self, point: Point) -> str:
        found = self._countries.country_at(LatLon(lat=point.y, lon=point.x))
        return "" if found is None else found.code

    @lru_cache(maxsize=64)  # noqa: B019  outlines live as long as their process
    def _country(self, code: str) -> BaseGeometry:
        """Its area between -180 and 180 degrees; empty where the maps have none."""
        faces, codes = self._areas_with_countries
        return shapely.union_all([face for face, other in zip(faces, codes, strict=True) if other == code])

    def _region(self, code: str, region: str) -> BaseGeometry:
        """The part of a country that lies nearest to a town of the region, or an empty geometry."""
        country = self._country(code)
        towns = self._towns(code)
        if country.is_empty or not any(admin1 == region for _, _, admin1 in towns):
            return Polygon()
        narrow = float(np.cos(np.radians(country.centroid.y))) or 1.0
        points: dict[tuple[float, float], bool] = {}
        for lat, lon, admin1 in towns:
            points.setdefault((lon * narrow, lat), admin1 == region)
        if len(points) < 2:  # one town stands for the whole country
            return country
        squeezed = scale(country, xfact=narrow, origin=(0, 0))
        extent = box(*squeezed.bounds).buffer(1.0)
        cells = shapely.voronoi_polygons(MultiPoint(list(points)), extend_to=extent, ordered=True)
        own = [cell for cell, inside in zip(cells.geoms, points.values(), strict=True) if inside]
        return scale(shapely.union_all(own).intersection(squeezed), xfact=1.0 / narrow, origin=(0, 0))

    def _towns(self, code: str) -> list[tuple[float, float, str]]:
        """Latitude, longitude and first-order division of each town of a country."""
        if code not in self._gazetteer.country_codes:
            return []
        country, kind, _ = self._gazetteer.columns()
        of_country = country == self._gazetteer.country_codes.index(code)
        numbers = np.flatnonzero(of_country & (kind == KINDS.index("city")))
        places = (self._gazetteer.place(int(number)) for number in numbers)
        return [(place.point.lat, place.point.lon, place.admin1) for place in places]


def _simplify_area(area: BaseGeometry) -> list[Polygon]:
    """At most `_MAX_PARTS` polygons, the largest first, with few points, cut at the antimeridian."""
    tolerance = min(_MAX_TOLERANCE_DEG, max(_MIN_TOLERANCE_DEG, area.area**0.5 / _TOLERANCES_PER_SIDE))
    largest = sorted(_polygons(area), key=lambda part: -part.area)[:_MAX_PARTS]
    simple = shapely.union_all([shapely.make_valid(part.simplify(tolerance)) for part in largest])
    on_grid = shapely.set_precision(simple, _GRID_DEG)
    return sorted((orient(part) for part in _polygons(on_grid)), key=lambda part: -part.area)


def _wrap_line(line: BaseGeometry) -> BaseGeometry:
    """A line as its pieces between -180 and 180 degrees."""
    west, _, east, _ = line.bounds
    if west >= -180.0 and east <= 180.0:
        return line
    pieces = (
        translate(line.intersection(box(-180 + 360 * turn, -90, 180 + 360 * turn, 90)), xoff=-360.0 * turn)
        for turn in (-1, 0, 1)
    )
    return shapely.union_all([piece for piece in pieces if not piece.is_empty])


def _enclosed_areas(pieces: Sequence[LineString]) -> list[Polygon]:
    """What lines surround, together with the edges of the flat world; also where a line touches itself."""
    bounds = shapely.bounds(np.array(pieces))
    at_edge = np.maximum(np.abs(bounds[:, 0]), np.abs(bounds[:, 2])) >= 180.0
    edge = _lines(
        shapely.union_all([*(one for one, on in zip(pieces, at_edge, strict=True) if on), *_map_edges(pieces)])
    )
    inner = [one for one, on in zip(pieces, at_edge, strict=True) if not on]
    found, _, _, touching = shapely.polygonize_full([*inner, *edge])
    mended = [
        shapely.make_valid(Polygon(line).simplify(_MIN_TOLERANCE_DEG))
        for line in _lines(touching)
        if len(line.coords) > 3
    ]
    return [*_polygons(found), *(part for one in mended for part in _polygons(one))]


def _snap_line(line: LineString) -> LineString:
    """Its points as they were before the maps were built, so that the ends of lines meet."""
    return LineString(np.round(shapely.get_coordinates(line), _STORED_DIGITS))


def _map_edges(pieces: Sequence[LineString]) -> list[LineString]:
    """The edges of the flat world, which close what crosses the antimeridian and what surrounds the South Pole."""
    frame = [LineString([(-180, -90), (180, -90)])]
    for side in (-180.0, 180.0):
        ends = {y for piece in pieces for x, y in (piece.coords[0], piece.coords[-1]) if x == side}
        frame += [
            LineString([(side, low), (side, high)]) for low, high in itertools.pairwise(sorted({*ends, -90.0, 90.0}))
        ]
    return frame


def _lines(shape: BaseGeometry) -> list[LineString]:
    parts: Iterable[Any] = getattr(shape, "geoms", [shape])
    return [part for part in parts if isinstance(part, LineString) and not part.is_empty]


def _polygons(shape: BaseGeometry) -> list[Polygon]:
    parts: Iterable[Any] = getattr(shape, "geoms", [shape])
    return [
        part for one in parts for part in getattr(one, "geoms", [one]) if isinstance(part, Polygon) and part.area > 0
    ]


def _ring(line: Any) -> list[list[float]]:
    return [[round(x, 4), round(y, 4)] for x, y in line.coords]
