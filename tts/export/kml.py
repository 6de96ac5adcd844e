"""KML 2.2 (OGC 07-147r2): a folder for each photo with its point, its areas, the other candidates and what was claimed.

Elements stand in the order of the schema (`ogckml22.xsd`), which is a sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from xml.etree import ElementTree as ET

from tts.domain.answer import Answer, Candidate
from tts.domain.geo import LatLon
from tts.domain.geojson import area_geometry, claimed_geometries, outline_of
from tts.export.export_source import LocatedPhoto
from tts.export.rows import row_of
from tts.export.xml_text import add_text, xml_bytes, xml_text

_NAMESPACE = "http://www.opengis.net/kml/2.2"
_STYLES = {
    "area_90": ("ff2277dd", "262277dd"),
    "area_50": ("ff2277dd", "4d2277dd"),
    "claimed": ("ff9a3d5a", "1a9a3d5a"),
    "known": ("ff2c1cc3", "0d2c1cc3"),
}  # fmt: skip  aabbggrr: line, fill
_AREA_PERCENTS: tuple[Literal[90], Literal[50]] = (90, 50)  # the wider area lies below
_SHOWN_FIELDS = (
    "outcome",
    "level",
    "confidence",
    "radius_p50_km",
    "radius_p90_km",
    "country",
    "region",
    "city",
    "request_id",
)


def to_kml(items: Sequence[LocatedPhoto]) -> bytes:
    """One document; a photo without a point has a folder that says why."""
    root = ET.Element("kml", {"xmlns": _NAMESPACE})
    document = ET.SubElement(root, "Document")
    add_text(document, "name", "GeoTTS")
    for name, (line, fill) in _STYLES.items():
        style = ET.SubElement(document, "Style", {"id": name})
        add_text(ET.SubElement(style, "LineStyle"), "color", line)
        add_text(ET.SubElement(style, "PolyStyle"), "color", fill)
    for item in items:
        _add_folder(document, item)
    return xml_bytes(root)


def _add_folder(document: ET.Element, item: LocatedPhoto) -> None:
    folder = ET.SubElement(document, "Folder")
    add_text(folder, "name", item.name)
    answer = item.answer
    add_text(folder, "description", item.failure if answer is None else answer.explanation)
    row = row_of(item)
    data = ET.SubElement(folder, "ExtendedData")
    for name in _SHOWN_FIELDS:
        if row[name] not in {None, ""}:
            add_text(ET.SubElement(data, "Data", {"name": name}), "value", str(row[name]))
    if answer is None:
        return
    if answer.point is not None:
        _add_answer(folder, item.name, answer, answer.point)
    if item.outlines.known is not None:
        known = answer.region or answer.country
        placemark = _add_placemark(folder, f"{xml_text(known)}: the whole {answer.level}", "")
        add_text(placemark, "styleUrl", "#known")
        _add_area(placemark, item.outlines.known.geometry)
    for rank, candidate in enumerate(answer.candidates):
        _add_candidate(folder, rank, candidate)
    _add_claimed_places(folder, item, answer)


def _add_claimed_places(folder: ET.Element, item: LocatedPhoto, answer: Answer) -> None:
    """What a check was about, with its verdict."""
    if answer.check is None:
        return
    for number, place in enumerate(answer.check.places):
        for geometry in claimed_geometries(place, outline_of(number, item.outlines.claimed)):
            placemark = _add_placemark(folder, f"claimed: {xml_text(place.place)}", place.verdict.replace("_", " "))
            add_text(placemark, "styleUrl", "#claimed")
            _add_area(placemark, geometry)


def _add_answer(folder: ET.Element, name: str, answer: Answer, point: LatLon) -> None:
    _add_point(_add_placemark(folder, _place_name(answer) or name, answer.explanation), point)
    for share in _AREA_PERCENTS:
        geometry = area_geometry(answer, share)
        if geometry is not None:
            placemark = _add_placemark(folder, f"{share} %: {_area_text(answer, share)}", "")
            add_text(placemark, "styleUrl", f"#area_{share}")
            _add_area(placemark, geometry)


def _area_text(answer: Answer, share: Literal[50, 90]) -> str:
    if answer.region_90 is not None:
        return "in one of these areas"
    assert answer.radius_km is not None
    return f"within {answer.radius_km.p50 if share == 50 else answer.radius_km.p90:.3g} km"


def _add_candidate(folder: ET.Element, rank: int, candidate: Candidate) -> None:
    about = f"support {candidate.support:.0%}, 90 % radius {candidate.radius_km.p90:.3g} km"
    placemark = _add_placemark(folder, f"candidate {rank + 1}: {_place_name(candidate)}".rstrip(": "), about)
    add_text(placemark, "visibility", "0")
    placemark.remove(visible := placemark[-1])
    placemark.insert(1, visible)
    _add_point(placemark, LatLon(lat=candidate.lat, lon=candidate.lon))


def _add_placemark(folder: ET.Element, name: str, description: str) -> ET.Element:
    placemark = ET.SubElement(folder, "Placemark")
    add_text(placemark, "name", name)
    if description:
        add_text(placemark, "description", description)
    return placemark


def _place_name(place: Answer | Candidate) -> str:
    names = dict.fromkeys(name for name in (place.place, place.city, place.region, place.country) if name)
    return xml_text(", ".join(names))


def _add_point(placemark: ET.Element, point: LatLon) -> None:
    add_text(ET.SubElement(placemark, "Point"), "coordinates", f"{point.lon:.6f},{point.lat:.6f}")


def _add_area(placemark: ET.Element, geometry: dict[str, Any]) -> None:
    """Polygons; several of a region, and two, one on each side, where an area crosses the antimeridian."""
    several = geometry["type"] == "MultiPolygon"
    polygons = geometry["coordinates"] if several else [geometry["coordinates"]]
    parent = ET.SubElement(placemark, "MultiGeometry") if several else placemark
    for outer, *holes in polygons:
        polygon = ET.SubElement(parent, "Polygon")
        add_text(polygon, "tessellate", "1")
        for name, ring in (("outerBoundaryIs", outer), *(("innerBoundaryIs", hole) for hole in holes)):
            linear = ET.SubElement(ET.SubElement(polygon, name), "LinearRing")
            add_text(linear, "coordinates", " ".join(f"{lon:.5f},{lat:.5f}" for lon, lat in ring))
