"""YFCC4k (Vo et al. 2017): 4,536 photos of YFCC100M, many of them indoors or close-ups."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_table
from tts.eval.rows import read_rows
from tts.eval.sample import Sample

_NEEDS = "yfcc4k*.csv with IMG_ID, LAT, LON and the pictures beside it, in images/ or in yfcc4k/"


def _load(path: Path, seed: int) -> list[Sample]:
    table = find_table(path, ("yfcc4k*.csv", "*.csv"), _NEEDS)
    return RowReader("yfcc4k", table.parent, seed, picture_folders=("yfcc4k",)).samples(read_rows(table), table)


YFCC4K = Dataset("yfcc4k", "4,536 photos of YFCC100M, WGS-84", _NEEDS, _load)
