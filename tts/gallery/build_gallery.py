"""A gallery out of photos with known positions."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from pydantic import ValidationError

from tts.config.gallery import GalleryConfig
from tts.domain.geo import LatLon
from tts.domain.photo_cleaning import load_photo
from tts.errors import DataError, PhotoError
from tts.eval.rows import Row, read_rows
from tts.gallery.encoder import ImageEncoder, Vector


def build_gallery(labels: Path, config: GalleryConfig, step: Callable[[int, int], None]) -> int:
    """Write `config.table` and `config.embeddings` for the photos that `labels` lists; returns how many.

    Rows have `file` (relative to `labels`), `lat`, `lon`, and perhaps `id`. `step` is called with (done, total).

    Raises:
        DataError: naming the row whose photo or position cannot be read; nothing is written then.
    """
    if config.embeddings is None:
        raise DataError("a gallery is built with its embeddings in one file: set gallery.embeddings")
    rows = list(read_rows(labels))
    if not rows:
        raise DataError(f"{labels} has no rows")
    encoder = ImageEncoder(config)
    vectors: list[Vector] = []
    placed: list[tuple[str, float, float]] = []
    for number, row in enumerate(rows, 1):
        where = f"{labels}, row {number}"
        point = _point(row, where)
        vectors.append(encoder.encode(_photo(labels.parent, row, where)))
        placed.append((str(row.get("id") or row["file"]), point.lat, point.lon))
        step(number, len(rows))
    config.table.parent.mkdir(parents=True, exist_ok=True)
    np.save(config.embeddings, np.stack(vectors))
    with config.table.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("id", "lat", "lon"))
        table.writerows(placed)
    return len(rows)


def _point(row: Row, where: str) -> LatLon:
    try:
        return LatLon(lat=float(row["lat"]), lon=float(row["lon"]))
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise DataError(f"{where} has no position in lat and lon") from error


def _photo(folder: Path, row: Row, where: str) -> Image.Image:
    name = row.get("file")
    if not name:
        raise DataError(f"{where} has no file")
    try:
        return load_photo((folder / str(name)).read_bytes()).image()
    except (OSError, PhotoError) as error:
        raise DataError(f"{where}: {name} is no photo that can be read: {error}") from error
