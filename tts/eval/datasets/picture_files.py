"""Finds the pictures that a table names, in the folders as people have unpacked them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from tts.errors import DataError
from tts.eval.fields import PICTURE_SUFFIXES


class PictureFiles:
    """The pictures under `folder`, by the names that tables use for them.

    A name is first taken as a path in one of `subfolders`, with or without `.jpg`. A name that is not there may stand
    deeper, with another case or another suffix: then the files under `folder` are listed once.
    """

    def __init__(self, folder: Path, subfolders: Sequence[str]) -> None:
        self._folder = folder
        self._subfolders = subfolders
        self._by_stem: dict[str, list[Path]] | None = None

    def loader(self, name: str) -> Callable[[], bytes] | None:
        """Reads the file of a picture; None when there is none. Raises DataError when the name fits several files."""
        for subfolder in self._subfolders:
            for suffix in ("", ".jpg"):
                path = self._folder / subfolder / (name + suffix)
                if path.is_file():
                    return path.read_bytes
        found = self._deeper(name)
        if len(found) > 1:
            raise DataError(f"{name!r} may be {found[0]} or {found[1]}: the table must name the folder too")
        return found[0].read_bytes if found else None

    def _deeper(self, name: str) -> list[Path]:
        if self._by_stem is None:
            self._by_stem = defaultdict(list)
            for path in pictures_in(self._folder):
                self._by_stem[path.stem.casefold()].append(path)
        parts = _without_suffix(name.replace("\\", "/"))
        found = self._by_stem.get(parts[-1], []) if parts else []
        return [path for path in found if _without_suffix(path.as_posix())[-len(parts) :] == parts]


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and the folders below it, by the ends of their names; sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES)


def _without_suffix(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name.casefold())
    return (path.with_suffix("") if path.suffix in PICTURE_SUFFIXES else path).parts
