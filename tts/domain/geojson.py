"""An answer as GeoJSON (RFC 7946): circles on the ellipsoid and regions as polygons, cut at the antimeridian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from shapely import set_precision, transform
from shapely.affinity import translate
from shapely.geometry import Polygon, box
from shapely.geometry.polygon import orient
from shapely.ops import unary_union

from tts.domain.answer import Answer
from tts.domain.claim import CheckedPlace, ClaimCheck
from tts.domain.geo import BBox, Circle, LatLon, circle_ring, distance_km
from tts.domain.outline import NO_OUTLINES, AnswerOutlines, Outline
from tts.domain.region import Region

_WHOLE_WORLD_KM = 9500.0
_CIRCLE_VERTICES = 64
_REGION_VERTICES = 48
_SMALL_GAP = 0.01  # of the area around it
_HALF_CUT_DEG = 1e-5  # degrees; the grid of written coordinates
_NO_PROPERTIES = (
    "candidates", "evidence", "per_photo", "route", "rollouts", "provenance", "check", "region_50", "region_90",
)  # fmt: skip
_NORTH_POLE = LatLon(lat=90, lon=0)
_SOUTH_POLE = LatLon(lat=-90, lon=0)


def answer_geojson(answer: Answer, outlines: AnswerOutlines = NO_OUTLINES) -> dict[str, Any]:
    """FeatureCollection: the point, the 50 % and 90 % circles as polygons, both regions where there are several peaks,
    the country or region where no more is known, the other candidates, what was claimed, and each photo where they are
    not of one place. Without its outline, a claimed country or region has no geometry, and a known one no feature."""
    summary = answer.jsonable()
    for heavy in _NO_PROPERTIES:
        summary.pop(heavy)
    features = [_feature("answer", point_geometry(answer.point), summary)]
    if answer.point is not None and answer.radius_km is not None:
        for name, radius in (("radius_90", answer.radius_km.p90), ("radius_50", answer.radius_km.p50)):
            features.append(_feature(name, circle_geometry(answer.point, radius), {"radius_km": radius}))
    for name, region in (("region_90", answer.region_90), ("region_50", answer.region_50)):
        features += [] if region is None else [_feature(name, region.jsonable(), {})]
    if outlines.known is not None:
        properties = {
            "place": answer.region or answer.country,
            "level": answer.level,
            **_outline_properties(outlines.known),
        }
        features.append(_feature("known", outlines.known.geometry, properties))
    for rank, candidate in enumerate(answer.candidates):
        point = LatLon(lat=candidate.lat, lon=candidate.lon)
        features.append(_feature("candidate", point_geometry(point), {"rank": rank, **candidate.jsonable()}))
    features += _claimed_features(answer.check, outlines.claimed) if answer.check is not None else []
    for photo in answer.per_photo:
        place = None if photo.lat is None or photo.lon is None else LatLon(lat=photo.lat, lon=photo.lon)
        photo_fields = photo.jsonable()
        photo_fields.pop("evidence")
        features.append(_feature("photo", point_geometry(place), photo_fields))
    return {"type": "FeatureCollection", "features": features}


def _claimed_features(check: ClaimCheck, outlines: Sequence[Outline | None]) -> list[dict[str, Any]]:
    """The claimed places with what was found about them."""
    found = []
    for number, place in enumerate(check.places):
        properties = {**place.jsonable(), "check": check.verdict, "kind_of_check": check.kind, "text": check.text}
        outline = outline_of(number, outlines)
        if outline is not None:
            properties |= {"claim_number": number, **_outline_properties(outline)}
        geometries: list[dict[str, Any] | None] = [*claimed_geometries(place, outline)]
        found += [_feature("claimed", geometry, properties) for geometry in geometries or [None]]
    return found


def _outline_properties(outline: Outline) -> dict[str, Any]:
    """Where an outline is from, and a point in its largest part."""
    return {"outline": outline.source, "middle": [round(outline.middle.lon, 4), round(outline.middle.lat, 4)]}


def outline_of(number: int, outlines: Sequence[Outline | None]) -> Outline | None:
    """The outline of the claimed place with a number; None where there is none."""
    return outlines[number] if number < len(outlines) else None


def claimed_geometries(place: CheckedPlace, outline: Outline | None) -> list[dict[str, Any]]:
    """What there is to draw of a claimed place: its outline, or each of its circles and rectangles."""
    if outline is not None:
        return [outline.geometry]
    circles = [circle_geometry(area.centre, area.radius_km) for area in place.areas if isinstance(area, Circle)]
    return circles + [_bbox_geometry(area) for area in place.areas if isinstance(area, BBox)]


def _bbox_geometry(area: BBox) -> dict[str, Any]:
    if area.west <= area.east:
        return _geometry([box(area.west, area.south, area.east, area.north)])
    return _geometry([box(area.west, area.south, 180, area.north), box(-180, area.south, area.east, area.north)])


def _feature(role: str, geometry: dict[str, Any] | None, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": {"role": role, **properties}}


def point_geometry(point: LatLon | None) -> dict[str, Any] | None:
    """A Point, or null for an unlocated feature (RFC 7946, section 3.2)."""
    return None if point is None else {"type": "Point", "coordinates": [round(point.lon, 6), round(point.lat, 6)]}


def circle_geometry(centre: LatLon, radius_km: float) -> dict[str, Any]:
    """A Polygon, or a MultiPolygon where the circle crosses the antimeridian (section 3.1.9); counter-clockwise."""
    return _geometry(_circle_parts(centre, radius_km, vertices=_CIRCLE_VERTICES))


def circles_region(circles: Sequence[Circle]) -> Region:
    """Everything that lies in one of the circles, as polygons without holes.

    A gap that the circles surround is part of the region if it is small beside them (`_SMALL_GAP`). A larger gap is
    joined to the outside by a cut of about two metres.
    """
    parts = [part for one in circles for part in _circle_parts(one.centre, one.radius_km, vertices=_REGION_VERTICES)]
    without_holes = [part for one in _polygons(unary_union(parts)) for part in _parts_without_holes(one)]
    rings = [_ring(one) for one in _polygons(unary_union(without_holes))]
    return Region(coordinates=tuple((tuple((x, y) for x, y in ring),) for ring in rings))


def _parts_without_holes(polygon: Polygon) -> list[Polygon]:
    limit = _SMALL_GAP * _equal_area(polygon)
    gaps = [gap for gap in map(Polygon, polygon.interiors) if _equal_area(gap) > limit]
    cuts = [_cut_northwards(gap, polygon.bounds[3]) for gap in gaps]
    return [
        Polygon(part.exterior) for part in _polygons(Polygon(polygon.exterior).difference(unary_union(gaps + cuts)))
    ]


def _cut_northwards(gap: Polygon, north: float) -> Polygon:
    start = gap.representative_point()
    lon = round(start.x, 5)
    return box(lon - _HALF_CUT_DEG, start.y, lon + _HALF_CUT_DEG, north + _HALF_CUT_DEG)


def _equal_area(polygon: Polygon) -> float:
    """Proportional to the area on the sphere (Lambert's cylindrical projection)."""
    return float(
        transform(polygon, lambda points: np.column_stack([points[:, 0], np.sin(np.radians(points[:, 1]))])).area
    )


def area_geometry(answer: Answer, share: Literal[50, 90]) -> dict[str, Any] | None:
    """The region of the answer, or its circle if it has no region; None for an abstention."""
    region = answer.region_50 if share == 50 else answer.region_90
    if region is not None:
        return region.jsonable()
    if answer.point is None or answer.radius_km is None:
        return None
    return circle_geometry(answer.point, answer.radius_km.p50 if share == 50 else answer.radius_km.p90)


def _circle_parts(centre: LatLon, radius_km: float, *, vertices: int) -> list[Polygon]:
    if radius_km >= _WHOLE_WORLD_KM:
        return [box(-180, -90, 180, 90)]
    flat = Polygon(_flat_ring(centre, radius_km, vertices)).buffer(0)
    parts: list[Polygon] = []
    for turn in (-1, 0, 1):
        piece = flat.intersection(box(-180 + 360 * turn, -90, 180 + 360 * turn, 90))
        shifted = translate(piece, xoff=-360.0 * turn)
        parts += [part for part in getattr(shifted, "geoms", [shifted]) if isinstance(part, Polygon) and part.area > 0]
    whole = unary_union(parts)  # the parts of a circle around a pole share an edge
    return _polygons(whole) if whole.is_valid else parts


def _polygons(shape: Any) -> list[Polygon]:
    """The polygons of a geometry on a grid of 1e-5 degrees, so that they are valid as they are written."""
    on_grid = set_precision(shape, 1e-5)
    found = [one for one in getattr(on_grid, "geoms", [on_grid]) if isinstance(one, Polygon) and one.area > 0]
    return found or [one for one in getattr(shape, "geoms", [shape]) if isinstance(one, Polygon)]


def _flat_ring(centre: LatLon, radius_km: float, vertices: int) -> list[tuple[float, float]]:
    """(lon, lat) of the ring. Longitudes may exceed 180; the ring is closed over the pole if a pole is inside."""
    ring = circle_ring(centre, radius_km, vertices)
    unrolled: list[tuple[float, float]] = []
    previous = centre.lon
    for vertex in ring:
        lon = vertex.lon + 360.0 * round((previous - vertex.lon) / 360.0)
        unrolled.append((round(lon, 9), round(vertex.lat, 9)))  # without subnormal numbers, which GEOS divides by
        previous = lon
    for pole in (_NORTH_POLE, _SOUTH_POLE):
        if distance_km(centre, pole) < radius_km:
            (first, _), (last, _) = unrolled[0], unrolled[-1]
            return [*unrolled, (last, pole.lat), (first, pole.lat)]
    return unrolled


def _geometry(parts: list[Polygon]) -> dict[str, Any]:
    rings = [[list(position) for position in _ring(part)] for part in parts]
    if len(rings) == 1:
        return {"type": "Polygon", "coordinates": rings}
    return {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}


def _ring(part: Polygon) -> list[tuple[float, float]]:
    """The outer ring, counter-clockwise."""
    return [(round(x, 5), round(y, 5)) for x, y in orient(part).exterior.coords]
