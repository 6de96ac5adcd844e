"""The SQLite files of REVERSE's evaluation: replies of the services, found by an exact key.

A text query is found without regard to case and outer blanks; a picture by the path of its photo and its box, rounded
to one decimal.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tts.errors import DataError

TEXT_FILE = "tavily_cache.db"
IMAGE_FILE = "imsearch_cache.db"
SERPER_FILE = "serper_imsearch_cache.db"
_IMAGE_FILES = (IMAGE_FILE, SERPER_FILE)
_COLUMNS = {TEXT_FILE: ("query",), **dict.fromkeys(_IMAGE_FILES, ("img_path", "bbox"))}
Hits = tuple[Mapping[str, Any], ...]
"""Results as the services gave them: title, url and content, or pos, title, link, source and thumbnail."""


@dataclass(slots=True)
class EvaluationCache:
    """`texts` has (query as asked, results) and `pictures` (path, box, results), by their keys."""

    texts: dict[str, tuple[str, Hits]] = field(default_factory=dict)
    pictures: dict[str, tuple[str, str, Hits]] = field(default_factory=dict)

    def text(self, query: str) -> tuple[str, Hits] | None:
        """The query as it was asked first, and its results.

        Args:
            query: case and outer blanks make no difference.

        Returns:
            None when it was not recorded.
        """
        return self.texts.get(text_key(query))

    def picture(self, path: str, box: Sequence[float]) -> Hits | None:
        """Look up the results for a box of a photo.

        Args:
            path: the path of the photo when it was recorded.
            box: (x0, y0, x1, y1) in thousandths of the photo's sides; it is compared to one decimal.

        Returns:
            The results in the order of the service; None if the box was not recorded.
        """
        found = self.pictures.get(picture_key(path, box))
        return None if found is None else found[2]


def has_files(folder: Path) -> bool:
    """Tell whether the folder has recorded searches of the evaluation.

    Args:
        folder: any path; a folder that is not there has none.

    Returns:
        True if at least one of the three files is there.
    """
    return any((folder / name).is_file() for name in (TEXT_FILE, *_IMAGE_FILES))


def read_files(folder: Path) -> EvaluationCache:
    """Read the replies of all files that are in a folder.

    Args:
        folder: where the files are, under their released names.

    Returns:
        The replies of all files; of two rows with one key, the last one.

    Raises:
        DataError: none of the files is there or one is no such table.
    """
    if not has_files(folder):
        raise DataError(f"{folder} has none of {', '.join((TEXT_FILE, *_IMAGE_FILES))}")
    cache = EvaluationCache()
    for key, query, result in _rows(folder / TEXT_FILE, ("key", "query", "result")):
        cache.texts[key] = (query, _hits(result))
    for name in _IMAGE_FILES:
        for key, path, box, result in _rows(folder / name, ("key", "img_path", "bbox", "result")):
            cache.pictures[key] = (path, box, _hits(result))
    return cache


def copy_files(source: Path, target: Path) -> None:
    """Add every row of the files in `source` to those in `target`, with the replies and times as they were recorded.

    Args:
        source: the folder to read; the files that are not there are left out.
        target: the folder to write, made if it is not there. Of two rows with one key, that of `source` stays.

    Raises:
        DataError: a file in `source` is no such table.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name, columns in _COLUMNS.items():
        if (source / name).is_file():
            _add(target / name, columns, list(_rows(source / name, ("key", *columns, "result", "created"))))


def text_key(query: str) -> str:
    """Compute the key of a query.

    Args:
        query: as it is asked.

    Returns:
        SHA-256, as 64 hexadecimal digits, of the query without outer blanks and in lower case.
    """
    return hashlib.sha256(query.strip().lower().encode()).hexdigest()


def picture_key(path: str, box: Sequence[float]) -> str:
    """Compute the key of a picture.

    Args:
        path: the path of the photo when it was recorded.
        box: (x0, y0, x1, y1) in thousandths of the photo's sides.

    Returns:
        SHA-256, as 64 hexadecimal digits, of the path and `box_text`.
    """
    return hashlib.sha256(f"{path}|{box_text(box)}".encode()).hexdigest()


def box_text(box: Sequence[float]) -> str:
    """Write a box as the evaluation does.

    Args:
        box: (x0, y0, x1, y1) in thousandths of the photo's sides.

    Returns:
        The four sides to one decimal, with commas between them.
    """
    return ",".join(f"{side:.1f}" for side in box)


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            yield from database.execute(f"SELECT {', '.join(columns)} FROM {path.stem}")
    except sqlite3.Error as error:
        raise DataError(f"{path} is no table {path.stem} with {', '.join(columns)}: {error}") from error


def _add(path: Path, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    names = ("key", *columns, "result", "created")
    types = ("TEXT PRIMARY KEY", *("TEXT NOT NULL" for _ in columns), "TEXT NOT NULL", "INTEGER NOT NULL")
    defined = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE IF NOT EXISTS {path.stem} ({defined})")
        marks = ", ".join("?" for _ in names)
        database.executemany(f"INSERT OR REPLACE INTO {path.stem} VALUES ({marks})", rows)


def _hits(result: str) -> Hits:
    try:
        found = json.loads(result).get("results", [])
    except (ValueError, AttributeError):
        return ()
    return tuple(hit for hit in found if isinstance(hit, dict)) if isinstance(found, list) else ()
