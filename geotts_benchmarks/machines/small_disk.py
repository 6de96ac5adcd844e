"""A small file system in memory that can be filled to its last byte and emptied again."""

from __future__ import annotations

import contextlib
import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILLER_NAME = "filled"
_BLOCK = b"\0" * 65536


class SmallDisk:
    """A folder with little room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave not one byte free."""
        with (self.folder / _FILLER_NAME).open("wb", buffering=0) as file:
            size = len(_BLOCK)
            while size:
                try:
                    file.write(_BLOCK[:size])
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def clear(self) -> None:
        """Give back what `fill` took."""
        (self.folder / _FILLER_NAME).unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[SmallDisk]:
    """A tmpfs of so many MiB at `folder`, unmounted at the end. Needs root."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield SmallDisk(folder)
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)
