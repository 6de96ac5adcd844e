"""GeoBench (GeoVista, arXiv:2511.15705): photos, panoramas and satellite tiles; the truth is in a JSON column."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.fields import plain_keys
from tts.eval.rows import Row
from tts.eval.sample import LeftOut, Sample

_NEEDS = "a Parquet or JSON Lines file of rows with `metadata` or `ground_truth` (lat, lng) and pictures or their paths"


def _tags(row: Row) -> tuple[str, ...]:
    kind = str(plain_keys(row).get("data_type") or "").strip().lower()
    return (f"type:{kind}",) if kind else ()


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("*test*.parquet", "*.parquet", "data/*.parquet", "*.jsonl", "*.json"), _NEEDS)
    return RowReader("geobench", path if path.is_dir() else path.parent, seed, tags=_tags).samples_of(tables)


GEOBENCH = Dataset("geobench", "photos, panoramas and satellite tiles, WGS-84", _NEEDS, _load)
