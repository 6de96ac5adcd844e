"""GeoSeek-Val (GeoAgent, arXiv:2602.12617): street photos with country, region and place names; licence CC BY-NC."""

from __future__ import annotations

import math
from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.fields import plain_keys
from tts.eval.rows import Row
from tts.eval.sample import LeftOut, Sample

_NEEDS = "a JSON Lines, JSON, CSV or Parquet file of rows with lat, lon or lng, names, and pictures or their paths"


_N_BINS = 10


def _tags(row: Row) -> tuple[str, ...]:
    """Above or below the middle, and the bin of the rating: 1 to 10, a rating of 0 in the first."""
    rated = plain_keys(row).get("locatability")
    try:
        score = float(rated) if rated not in (None, "") else math.nan
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        return ()
    rating = min(_N_BINS, max(1, math.ceil(score)))
    return ("locatable" if score >= 5 else "hardly_locatable", f"rating:{rating}")


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("*val*.parquet", "*val*.json*", "*val*.csv", "*.parquet", "*.json*", "*.csv"), _NEEDS)
    return RowReader("geoseek_val", tables[0].parent, seed, tags=_tags).samples_of(tables)


GEOSEEK_VAL = Dataset("geoseek_val", "street photos with names at three levels, WGS-84", _NEEDS, _load)
