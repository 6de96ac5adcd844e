"""YFCC4k (Vo et al. 2017): 4,536 photos of YFCC100M, many of them indoors or close-ups."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.sample import LeftOut, Sample

_NEEDS = "yfcc4k*.csv with IMG_ID, LAT, LON and the pictures beside it, in images/ or in yfcc4k/"


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("yfcc4k*.csv", "*.csv"), _NEEDS)
    return RowReader("yfcc4k", tables[0].parent, seed, picture_folders=("yfcc4k",)).samples_of(tables)


YFCC4K = Dataset("yfcc4k", "4,536 photos of YFCC100M, WGS-84", _NEEDS, _load)
