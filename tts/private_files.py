"""Files that other users of the machine must not read: requests, photos, tool results, names of callers."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make_private(path: Path) -> None:
    """See that there is a file at `path`. One that has to be made is its owner's alone, and so is its new folder.

    What is there keeps its mode: it may be shared on purpose.

    Raises:
        OSError: it cannot be made.
    """
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE))


def make_database_private(path: Path) -> None:
    """As `make_private`; a file that is there, made by an earlier release, is taken from all others.

    Raises:
        OSError: it cannot be made.
    """
    make_private(path)
    if path.stat().st_mode & 0o077:
        with suppress(PermissionError):  # of another owner
            path.chmod(_FILE_MODE)
