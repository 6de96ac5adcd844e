"""Any folder of photos: truths from `labels.jsonl`, a CSV or JSON table, or the photos' own EXIF."""

from __future__ import annotations

from pathlib import Path

from tts.domain.exif_claims import file_claim
from tts.eval.datasets.base import Dataset, RowReader, find_table, pictures_in
from tts.eval.fields import plain_keys
from tts.eval.rows import Row, read_rows
from tts.eval.sample import Sample, Truth, sample_id

_NEEDS = "labels.jsonl (file, lat, lon, …), a CSV or JSON table of the same, or photos with GPS positions in their EXIF"
_TABLES = ("labels.jsonl", "labels.csv", "labels.json", "*.csv", "*.jsonl")


def _tags(row: Row) -> tuple[str, ...]:
    """text or notext, difficulty, kind of scene, and what `tags` lists."""
    keys = plain_keys(row)
    tags: list[str] = []
    if isinstance(keys.get("has_legible_text"), bool):
        tags.append("text" if keys["has_legible_text"] else "notext")
    tags += [f"{name}:{keys[name]}" for name in ("difficulty", "scene") if keys.get(name)]
    listed = keys.get("tags")
    return (*tags, *(str(tag) for tag in listed)) if isinstance(listed, list) else tuple(tags)


def _load(path: Path, seed: int) -> list[Sample]:
    if path.is_dir() and not any(any(path.glob(pattern)) for pattern in _TABLES):
        return _samples_from_exif(path, seed)
    table = find_table(path, _TABLES, _NEEDS)
    return RowReader("folder", table.parent, seed, tags=_tags).samples(read_rows(table), table)


def _samples_from_exif(folder: Path, seed: int) -> list[Sample]:
    """Photos without a position are left out: most phones write one, most editors remove it."""
    samples = []
    for picture in pictures_in(folder):
        if (point := file_claim(picture.read_bytes()).point) is not None:
            key = picture.relative_to(folder).as_posix()
            truth = Truth(point=point, accuracy_radius_m=20.0)
            samples.append(Sample(sample_id("folder", key, seed), picture.read_bytes, truth, ("exif",), key))
    return samples


FOLDER = Dataset("folder", "a folder of your own photos", _NEEDS, _load)
