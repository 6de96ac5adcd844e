"""GeoSeek-Val (GeoAgent, arXiv:2602.12617): street photos with country, region and place names; licence CC BY-NC."""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_table
from tts.eval.fields import lowered
from tts.eval.rows import Row, read_rows
from tts.eval.sample import Sample

_NEEDS = "a JSON Lines, JSON, CSV or Parquet file of rows with lat, lon or lng, names, and pictures or their paths"


def _tags(row: Row) -> tuple[str, ...]:
    rated = lowered(row).get("locatability")
    try:
        score = float(rated) if rated not in (None, "") else None
    except (TypeError, ValueError):
        score = None
    return () if score is None else ("locatable" if score >= 5 else "hardly_locatable",)


def _load(path: Path, seed: int) -> list[Sample]:
    table = find_table(path, ("*val*.parquet", "*val*.json*", "*val*.csv", "*.parquet", "*.json*", "*.csv"), _NEEDS)
    return RowReader("geoseek_val", table.parent, seed, tags=_tags).samples(read_rows(table), table)


GEOSEEK_VAL = Dataset("geoseek_val", "street photos with names at three levels, WGS-84", _NEEDS, _load)
