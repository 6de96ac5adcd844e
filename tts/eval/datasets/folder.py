"""Any folder of photos: truths from `labels.jsonl`, a CSV or JSON table, or the photos' own EXIF."""

from __future__ import annotations

from pathlib import Path

from tts.domain.exif_claims import file_claim
from tts.eval.datasets.base import Dataset, RowReader, find_tables
from tts.eval.datasets.picture_files import pictures_in
from tts.eval.fields import plain_keys
from tts.eval.rows import Row
from tts.eval.sample import LeftOut, Sample, Truth, sample_id

_NEEDS = (
    "labels.jsonl (file, lat, lon, …), a CSV, TSV, JSON or Parquet table of the same, or photos with GPS positions in "
    "their EXIF"
)
_TABLES = (
    "labels.jsonl", "labels.csv", "labels.json", "metadata.csv", "metadata.jsonl", "*.csv", "*.tsv", "*.jsonl",
    "*.parquet", "data/*.parquet",
)  # fmt: skip
_JSON_TABLE = "*.json"  # photo programs write one for each photo: only a single one is a table


def _tags(row: Row) -> tuple[str, ...]:
    """text or notext, difficulty, kind of scene, and what `tags` lists."""
    keys = plain_keys(row)
    tags: list[str] = []
    if isinstance(keys.get("has_legible_text"), bool):
        tags.append("text" if keys["has_legible_text"] else "notext")
    tags += [f"{name}:{keys[name]}" for name in ("difficulty", "scene") if keys.get(name)]
    listed = keys.get("tags")
    return (*tags, *(str(tag) for tag in listed)) if isinstance(listed, list) else tuple(tags)


def _load(path: Path, seed: int) -> list[Sample | LeftOut]:
    patterns = _TABLES if len([*path.glob(_JSON_TABLE)]) != 1 else (*_TABLES, _JSON_TABLE)
    if path.is_dir() and not any(any(path.glob(pattern)) for pattern in patterns):
        return _samples_from_exif(path, seed)
    tables = find_tables(path, patterns, _NEEDS)
    folder = path if path.is_dir() else path.parent
    return RowReader("folder", folder, seed, tags=_tags).samples_of(tables)


def _samples_from_exif(folder: Path, seed: int) -> list[Sample | LeftOut]:
    """Photos without a position are left out: most phones write one, most editors remove it."""
    samples: list[Sample | LeftOut] = []
    for picture in pictures_in(folder):
        key = picture.relative_to(folder).as_posix()
        if (point := file_claim(picture.read_bytes()).point) is not None:
            truth = Truth(point=point, accuracy_radius_m=20.0)
            samples.append(Sample(sample_id("folder", key, seed), picture.read_bytes, truth, ("exif",), key))
        else:
            samples.append(LeftOut(key, "photos have no position in their EXIF", is_expected=True))
    return samples


FOLDER = Dataset("folder", "a folder of your own photos", _NEEDS, _load)
