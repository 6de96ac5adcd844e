"""Im2GPS3k (Vo et al. 2017): 2,997 Flickr photos. Names hold owner and number, so they never leave this process."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.sample import LeftOut, Sample

_NEEDS = "im2gps3k*.csv with IMG_ID, LAT, LON and the pictures beside it, in images/ or in im2gps3k/"


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("im2gps3k*.csv", "*.csv"), _NEEDS)
    folders = ("im2gps3k", "im2gps3ktest", "im2gps3k_rgb_images")
    return RowReader("im2gps3k", tables[0].parent, seed, picture_folders=folders).samples_of(tables)


IM2GPS3K = Dataset("im2gps3k", "2,997 Flickr photos, WGS-84", _NEEDS, _load)
