"""IMAGEO (IMAGEO-Bench, in the parts that Thinking with Map uses): crowd photos, worldwide and US."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.fields import plain_keys
from tts.eval.rows import Row
from tts.eval.sample import LeftOut, Sample

_NEEDS = "a Parquet, JSON Lines or CSV file of rows with a truth (lat, lon) and pictures or their paths"


def _tags(row: Row) -> tuple[str, ...]:
    source = str(plain_keys(row).get("data_source") or "").strip().lower()
    return (f"part:{source}",) if source else ()


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("*test*.parquet", "*.parquet", "*.jsonl", "*.json", "*.csv"), _NEEDS)
    return RowReader("imageo2_test", tables[0].parent, seed, tags=_tags).samples_of(tables)


IMAGEO = Dataset("imageo2_test", "crowd photos of places, WGS-84", _NEEDS, _load)
