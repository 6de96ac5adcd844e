"""The photos of a gallery: where they were taken, and their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from tts.config.gallery import GalleryConfig
from tts.domain.geo import LatLon
from tts.errors import DataError
from tts.eval.rows import read_rows

_CHUNK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class GalleryTable:
    """Row i of `vectors` (float, not normalised; `lengths` are theirs) belongs to `ids[i]` at `points[i]`."""

    ids: Sequence[str]
    points: Sequence[LatLon]
    vectors: npt.NDArray[Any]
    lengths: npt.NDArray[np.float32]

    def similarities(self, vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Cosine with every photo, for a vector of length 1."""
        found = np.empty(len(self.ids), dtype=np.float32)
        for start in range(0, len(self.ids), _CHUNK_ROWS):
            part = slice(start, start + _CHUNK_ROWS)
            found[part] = np.asarray(self.vectors[part], dtype=np.float32) @ vector / self.lengths[part]
        return np.clip(found, -1.0, 1.0)


def read_gallery(config: GalleryConfig, dimensions: int) -> GalleryTable:
    """Embeddings in one file stay on disk and are read as they are needed.

    Raises:
        DataError: naming the file and the row that is wrong: no position, no embedding, another number of dimensions.
    """
    rows = list(read_rows(config.table))
    if not rows:
        raise DataError(f"gallery.table: {config.table} has no rows")
    ids, points = zip(*(_id_and_point(config.table, number, row) for number, row in enumerate(rows, 1)), strict=True)
    if config.embeddings is not None:
        vectors = _load_array(config.embeddings, mapped=True)
    else:
        vectors = np.stack([_row_vector(config.table, number, row, dimensions) for number, row in enumerate(rows, 1)])
    if vectors.shape != (len(rows), dimensions):
        raise DataError(
            f"gallery.embeddings: {config.embeddings} is {vectors.shape}, not {len(rows)} rows of the table by "
            f"{dimensions} dimensions of the encoder"
        )
    return GalleryTable(ids, points, vectors, _vector_lengths(vectors, config))


def _id_and_point(table: Path, number: int, row: dict[str, Any]) -> tuple[str, LatLon]:
    name = str(row.get("id") or "").strip()
    if not name:
        raise DataError(f"gallery.table: {table}, row {number} has no id")
    try:
        return name, LatLon(lat=float(row["lat"]), lon=float(row["lon"]))
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise DataError(f"gallery.table: {table}, row {number} ({name}) has no position in lat and lon") from error


def _row_vector(table: Path, number: int, row: dict[str, Any], dimensions: int) -> npt.NDArray[Any]:
    file = row.get("embedding")
    if not file:
        raise DataError(f"gallery.table: {table}, row {number} names no embedding, and gallery.embeddings is not set")
    vector = _load_array(table.parent / str(file), mapped=False).reshape(-1)
    if vector.shape != (dimensions,):
        raise DataError(f"{file}, row {number} of {table}: {vector.size} numbers, the encoder has {dimensions}")
    return vector


def _load_array(path: Path, *, mapped: bool) -> npt.NDArray[Any]:
    try:
        found = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is no .npy file that can be read: {error}") from error
    if not isinstance(found, np.ndarray) or not np.issubdtype(found.dtype, np.floating):
        raise DataError(f"{path} holds no floating-point numbers")
    return found


def _vector_lengths(vectors: npt.NDArray[Any], config: GalleryConfig) -> npt.NDArray[np.float32]:
    lengths = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        lengths[part] = np.linalg.norm(np.asarray(vectors[part], dtype=np.float32), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if bad.size:
        where = config.embeddings or config.table
        raise DataError(f"{where}, row {int(bad[0]) + 1}: the embedding has no direction (zero, NaN or infinite)")
    return lengths
