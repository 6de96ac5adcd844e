"""Draws an answer on a map: its pin, the 50 % and 90 % circles or regions, and the other candidates.

A 90 % circle that is wider than a continent is not drawn, nor is the 90 % region of such an answer: they would cover
the map, and are described in words. What holds the place with 50 % is drawn.
"""

from __future__ import annotations

from typing import Final

from PIL import Image

from tts.domain.answer import Radius, Verdict
from tts.domain.geo import LatLon, distance_km
from tts.domain.region import Region
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.maps.furniture import Patch, Pin, Ring
from tts.geodata.maps.view import View, zoom_for

WIDTH_PX = 640
HEIGHT_PX = 480
_OVERVIEW_PX: Final = 220
_MAX_ZOOM = 11.0
_MIN_ZOOM = 2.0
_NEAR_RADII = 4.0  # candidates within so many 90 % radii are brought into the picture
_MAX_CANDIDATES = 5


def answer_map(cartographer: Cartographer, verdict: Verdict) -> Image.Image | None:
    """640×480 pixels around the answer; None when it names no point."""
    point, radius = verdict.point, verdict.radius_km
    if point is None or radius is None:
        return None
    view = answer_view(verdict, point, radius)
    return cartographer.draw(
        view, "map", pins=(Pin(point), *_other_pins(verdict)), areas=_areas(verdict, point, radius)
    )


def answer_view(verdict: Verdict, point: LatLon, radius: Radius) -> View:
    """What the map shows: the areas, and the candidates near them."""
    away = [distance_km(point, pin.point) for pin in _other_pins(verdict)]
    reach = max(
        [_reach_km(verdict, point, radius), *(km * 1.15 for km in away if km <= _NEAR_RADII * _outer_radius_km(radius))]
    )
    return View(point, _zoom(reach, point), WIDTH_PX, HEIGHT_PX)


def overview_map(cartographer: Cartographer, verdict: Verdict) -> Image.Image | None:
    """220×220 pixels that show which part of the world the answer's map is; None when that map shows it itself."""
    point, radius = verdict.point, verdict.radius_km
    if point is None or radius is None or (zoom := _zoom(_reach_km(verdict, point, radius), point)) < 4.5:
        return None
    view = View(point, max(_MIN_ZOOM, min(zoom - 4.0, 4.0)), _OVERVIEW_PX, _OVERVIEW_PX)
    return cartographer.draw(view, "map", pins=(Pin(point),))


def _areas(verdict: Verdict, point: LatLon, radius: Radius) -> tuple[Ring | Patch, ...]:
    """The regions, or the circles where they are all there is; the wider one first."""
    inner: Ring | Patch = Ring(point, radius.p50)
    outer: Ring | Patch = Ring(point, radius.p90, is_solid=False)
    if verdict.region_50 is not None and verdict.region_90 is not None:
        inner, outer = Patch(_rings(verdict.region_50)), Patch(_rings(verdict.region_90), is_solid=False)
    return (inner,) if radius.remark else (outer, inner)


def _rings(region: Region) -> tuple[tuple[LatLon, ...], ...]:
    return tuple(tuple(LatLon(lat=lat, lon=lon) for lon, lat in polygon[0]) for polygon in region.coordinates)


def _reach_km(verdict: Verdict, point: LatLon, radius: Radius) -> float:
    """How far from the point the drawn areas reach."""
    outer = verdict.region_50 if radius.remark else verdict.region_90
    if outer is None:
        return _outer_radius_km(radius)
    return max(distance_km(point, vertex) for ring in _rings(outer) for vertex in ring)


def _other_pins(verdict: Verdict) -> tuple[Pin, ...]:
    """Candidates after the first, with the numbers they have in the list."""
    ranked = enumerate(verdict.candidates[1 : 1 + _MAX_CANDIDATES], start=2)
    return tuple(Pin(LatLon(lat=c.lat, lon=c.lon), number) for number, c in ranked)


def _outer_radius_km(radius: Radius) -> float:
    return radius.p50 if radius.remark else radius.p90


def _zoom(radius_km: float, point: LatLon) -> float:
    return min(_MAX_ZOOM, max(_MIN_ZOOM, zoom_for(radius_km, point.lat, HEIGHT_PX)))
