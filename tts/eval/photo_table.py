"""The user's table that maps recorded paths of photos to files.

Rows have `image_path`, the path in the recorded searches, and either `sha256`, the name of the photo in this system, or
`file`, from which it is computed. CSV, JSON Lines, JSON and Parquet are read.
"""

from __future__ import annotations

from pathlib import Path

from tts.domain.photo_cleaning import load_photo
from tts.errors import DataError, PhotoError
from tts.eval.rows import read_rows


def read_photo_table(path: Path) -> dict[str, str]:
    """Recorded paths by the hashes of photos. Files are relative to the table.

    Raises:
        DataError: naming the row that lacks a column or whose file is no photo.
    """
    found: dict[str, str] = {}
    for number, row in enumerate(read_rows(path), 1):
        recorded, name = row.get("image_path"), row.get("sha256")
        if not recorded or not (name or row.get("file")):
            raise DataError(f"{path}, row {number} needs `image_path`, and `sha256` or `file`")
        found[str(name) if name else photo_name(path.parent / str(row["file"]))] = str(recorded)
    return found


def photo_name(file: Path) -> str:
    """The SHA-256 under which a photo is known once it is loaded, upright and without metadata."""
    try:
        return load_photo(file.read_bytes()).sha256
    except (OSError, PhotoError) as error:
        raise DataError(f"{file} is no photo that can be read: {error}") from error
