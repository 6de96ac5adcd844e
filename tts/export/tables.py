"""CSV (RFC 4180) and GeoParquet 1.1 (https://geoparquet.org/releases/v1.1.0/)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import orjson
from shapely import to_wkb
from shapely.geometry import Point, shape

from tts.domain.geojson import area_geometry
from tts.errors import DataError
from tts.export.export_source import LocatedPhoto
from tts.export.rows import COLUMNS, Cell, row_of

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(items: Sequence[LocatedPhoto]) -> bytes:
    """A header and one row for each photo, in UTF-8.

    A text that a spreadsheet would run as a formula gets an apostrophe in front: names and explanations come from
    photos and models.
    """
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(COLUMNS), lineterminator="\r\n")
    writer.writeheader()
    for item in items:
        writer.writerow({name: _safe_cell(value) for name, value in row_of(item).items()})
    return out.getvalue().encode()


def _safe_cell(value: Cell) -> Cell:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def to_geoparquet(items: Sequence[LocatedPhoto]) -> bytes:
    """The columns of CSV, `geometry` (the point) and `area_90` (the 90 % region or circle): WKB, null where unknown.

    Raises:
        DataError: when pyarrow is missing.
    """
    try:
        import pyarrow as arrow  # noqa: PLC0415  optional: the `parquet` extra
        from pyarrow import parquet  # noqa: PLC0415  optional, as above
    except ModuleNotFoundError as error:
        raise DataError("writing Parquet needs pyarrow: pip install 'geotts[parquet]'") from error
    fields = [(name, getattr(arrow, kind)()) for name, kind in COLUMNS.items()]
    schema = arrow.schema([*fields, ("geometry", arrow.binary()), ("area_90", arrow.binary())])
    schema = schema.with_metadata({"geo": orjson.dumps(_geo_metadata(items))})
    table = arrow.Table.from_pylist([row_of(item) | _shapes(item) for item in items], schema=schema)
    out = io.BytesIO()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def _shapes(item: LocatedPhoto) -> dict[str, Any]:
    answer = item.answer
    area = None if answer is None else area_geometry(answer, 90)
    if answer is None or answer.point is None or area is None:
        return {"geometry": None, "area_90": None}
    return {"geometry": to_wkb(Point(answer.point.lon, answer.point.lat)), "area_90": to_wkb(shape(area))}


def _geo_metadata(items: Sequence[LocatedPhoto]) -> dict[str, Any]:
    """No `crs`: the default is OGC:CRS84, longitude before latitude on WGS-84."""
    points = [item.answer.point for item in items if item.answer is not None and item.answer.point is not None]
    point: dict[str, Any] = {"encoding": "WKB", "geometry_types": ["Point"]}
    if points:
        lats, lons = [one.lat for one in points], [one.lon for one in points]
        point["bbox"] = [min(lons), min(lats), max(lons), max(lats)]
    area = {"encoding": "WKB", "geometry_types": ["MultiPolygon", "Polygon"], "orientation": "counterclockwise"}
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": point, "area_90": area}}
