"""Street View Text (Wang and Belongie 2010): US street scenes with business signs.

The data set ships street addresses and no positions. The published geolocation figures rest on geocoded addresses, so a
table of positions must be put beside the XML: any geocoder will do, and its use should be stated.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tts.errors import DataError
from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.rows import Row, read_rows
from tts.eval.sample import LeftOut, Sample

_NEEDS = (
    "test.xml (or train.xml), the pictures in img/, and locations.csv with image, lat, lon of the geocoded addresses"
)


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    (table,) = find_tables(path, ("test.xml", "train.xml", "*.xml"), _NEEDS)
    located = {str(row.get("image", "")).strip(): row for row in read_rows(_locations(table.parent))}
    rows: list[Row] = []
    for image in _images(table):
        name = (image.findtext("imageName") or "").strip()
        place = located.get(name) or located.get(Path(name).name)
        if place is None:
            raise DataError(f"{name} of {table} has no row in its table of locations")
        rows.append({"country": "United States", **place, "image": name})
    return RowReader("street_view_text", table.parent, seed).samples(rows, table)


def _locations(folder: Path) -> Path:
    return find_tables(folder, ("locations.csv", "locations.jsonl", "locations.json"), _NEEDS)[0]


def _images(table: Path) -> list[ElementTree.Element]:
    try:
        return ElementTree.parse(table).getroot().findall("image")
    except ElementTree.ParseError as error:
        raise DataError(f"{table} is not XML: {error}") from error


STREET_VIEW_TEXT = Dataset("street_view_text", "US street scenes with business signs", _NEEDS, _load)
