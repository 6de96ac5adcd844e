"""Every format by its name, its media type and the end of its file names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tts.domain.geojson import answer_geojson
from tts.errors import DataError
from tts.export.atif import to_atif
from tts.export.export_source import LocatedPhoto
from tts.export.geo_uri import geo_uri
from tts.export.kml import to_kml
from tts.export.tables import to_csv, to_geoparquet
from tts.export.xmp import MEDIA_TYPE as XMP_TYPE
from tts.export.xmp import to_xmp


@dataclass(frozen=True, slots=True)
class Format:
    """`write` makes one file of all photos. `sidecar`: a file can hold one photo only. `binary`: not text in UTF-8."""

    name: str
    media_type: str
    suffix: str
    write: Callable[[Sequence[LocatedPhoto]], bytes]
    sidecar: bool = False
    binary: bool = False


def _geojson(items: Sequence[LocatedPhoto]) -> bytes:
    """RFC 7946: all features of all photos; `name` says of which photo."""
    features = []
    for item in items:
        if item.answer is None:
            properties = {"role": "failure", "failure": item.failure}
            made: list[Any] = [{"type": "Feature", "geometry": None, "properties": properties}]
        else:
            made = answer_geojson(item.answer, item.outlines)["features"]
        features += [{**one, "properties": {"name": item.name, **one["properties"]}} for one in made]
    return orjson.dumps({"type": "FeatureCollection", "features": features})


def _uris(items: Sequence[LocatedPhoto]) -> bytes:
    """RFC 2483 `text/uri-list`: the photo in a comment, then its URI."""
    lines = []
    for item in items:
        name = " ".join(item.name.split())
        answer = item.answer
        if answer is None or answer.point is None:
            lines.append(f"# {name}: {item.outcome}")
        else:
            radius = answer.radius_km
            lines += [f"# {name}", geo_uri(answer.point, radius.p90 if radius else None)]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _xmp_of_photo(items: Sequence[LocatedPhoto]) -> bytes:
    if len(items) != 1:
        raise DataError(f"an XMP sidecar is for one photo, and there are {len(items)}: name a folder with -o")
    return to_xmp(items[0])


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("geojson", "application/geo+json", ".geojson", _geojson),
        Format("kml", "application/vnd.google-earth.kml+xml", ".kml", to_kml),
        Format("csv", "text/csv", ".csv", to_csv),
        Format("geoparquet", "application/vnd.apache.parquet", ".parquet", to_geoparquet, binary=True),
        Format("geo-uri", "text/uri-list", ".uri", _uris),
        Format("xmp", XMP_TYPE, ".xmp", _xmp_of_photo, sidecar=True),
        Format("atif", "application/vnd.geotts.atif+jsonl", ".atif.jsonl", to_atif),
    )
}
