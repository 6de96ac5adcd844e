"""Finds the pictures that a table names, in the folders as people have unpacked them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from tts.errors import DataError
from tts.eval.fields import PICTURE_SUFFIXES

_TAIL_PARTS = 3  # folders whose pictures all have the same names are told apart without a look at each


class PictureFiles:
    """The pictures under `folder`, by the names that tables use for them.

    A name is first taken as a path in one of `subfolders`, with or without `.jpg`. A name that is not there may stand
    deeper, with another case or another suffix: then the files under `folder` are listed once.
    """

    def __init__(self, folder: Path, subfolders: Sequence[str]) -> None:
        self._folder = folder
        self._subfolders = subfolders
        self._by_tail: dict[tuple[str, ...], list[Path]] | None = None

    def loader(self, name: str) -> Callable[[], bytes] | None:
        """Reads the file of a picture; None when there is none. Raises DataError when the name fits several files."""
        for subfolder in self._subfolders:
            for suffix in ("", ".jpg"):
                path = self._folder / subfolder / (name + suffix)
                if os.path.isfile(path):  # Path.is_file raises for a name that is too long
                    return path.read_bytes
        found = self._deeper(name)
        if len(found) > 1:
            raise DataError(f"{name!r} may be {found[0]} or {found[1]}: the table must name the folder too")
        return found[0].read_bytes if found else None

    def _deeper(self, name: str) -> list[Path]:
        if self._by_tail is None:
            self._by_tail = defaultdict(list)
            for path in pictures_in(self._folder):
                parts = _without_suffix(path.as_posix())
                for length in range(1, min(_TAIL_PARTS, len(parts)) + 1):
                    self._by_tail[parts[-length:]].append(path)
        parts = _without_suffix(name.replace("\\", "/"))
        found = self._by_tail.get(parts[-_TAIL_PARTS:], [])
        return [path for path in found if _without_suffix(path.as_posix())[-len(parts) :] == parts]


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and the folders below it, by the ends of their names; sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES)


def _without_suffix(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name.casefold())
    return (path.with_suffix("") if path.suffix in PICTURE_SUFFIXES else path).parts
