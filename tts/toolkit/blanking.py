"""Erasing lines of a file that others append to: they are overwritten in place with blanks.

No byte moves, so an appender needs no lock and a crash leaves a whole file; readers of JSONL skip blank lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def blank_lines(path: Path, doomed: Callable[[bytes], bool]) -> int:
    """Overwrite every whole line for which `doomed` holds; returns how many. A file that is not there has none.

    Raises:
        OSError: the file cannot be written; what was to be erased may still be there.
    """
    if not path.is_file():
        return 0
    gone = at = 0
    with path.open("r+b") as file:
        while line := file.readline():
            if line.endswith(b"\n") and doomed(line):
                file.seek(at)
                file.write(b" " * (len(line) - 1) + b"\n")
                gone += 1
            at += len(line)
            file.seek(at)
        file.flush()
        if gone:
            os.fsync(file.fileno())
    return gone
