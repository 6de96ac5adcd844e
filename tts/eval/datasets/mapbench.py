"""MAPBench (Thinking with Map, section 4): points of interest in China, true positions in GCJ-02, easy and hard parts.

The offset to WGS-84 is about half a kilometre, the whole of Acc@500 m: truths are converted here, answers are WGS-84.
"""

from __future__ import annotations

from pathlib import Path

from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.fields import plain_keys
from tts.eval.rows import Row, read_rows
from tts.eval.sample import LeftOut, Sample

PARTS_FILE = "parts.jsonl"
_NEEDS = "a Parquet or JSON Lines file of rows with `ground_truth` (lat, lon in GCJ-02) and pictures or their paths"


def _tags(row: Row) -> tuple[str, ...]:
    keys = plain_keys(row)
    truth = keys.get("ground_truth")
    info = keys.get("extra_info")
    held = [keys, *(plain_keys(part) for part in (truth, info) if isinstance(part, dict))]
    tags = {
        str(part.get(name, "")).lower() for part in held for name in ("difficulty", "level", "data_source", "split")
    }
    return tuple(name for name in ("easy", "hard") if any(name in value for value in tags))


def _parts(folder: Path) -> dict[str, str]:
    """Parts by index, where `geotts eval parts` has written them beside the table."""
    file = folder / PARTS_FILE
    return {str(row["index"]): str(row["part"]) for row in read_rows(file)} if file.is_file() else {}


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    tables = find_tables(path, ("*test*.parquet", "*.parquet", "[!p]*.jsonl", "*.json"), _NEEDS)
    parts = _parts(tables[0].parent)

    def tags(row: Row) -> tuple[str, ...]:
        part = parts.get(str(plain_keys(row).get("index")))
        return _tags(row) or (() if part is None else (part,))

    reader = RowReader("mapbench", tables[0].parent, seed, datum="GCJ-02", tags=tags)
    return reader.samples_of(tables)


MAPBENCH = Dataset("mapbench", "points of interest in China, GCJ-02, easy and hard", _NEEDS, _load)
