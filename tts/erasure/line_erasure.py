"""Erases lines of a file to which other processes append: the lines are overwritten in place with blanks.

No byte moves, so an appender needs no lock, and a crash does not damage the file. Readers of JSONL skip blank lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO


def blank_lines(path: Path, doomed: Callable[[bytes], bool]) -> int:
    """Overwrite every whole line for which `doomed` holds.

    Args:
        path: a file of lines; others may append to it meanwhile.
        doomed: asked for each line that is neither blank nor unfinished, with its end of line.

    Returns:
        How many lines that were; 0 for a file that is not there.

    Raises:
        OSError: the file cannot be written; what was to be erased may still be there.
    """
    if not path.is_file():
        return 0
    with path.open("r+b") as file:
        return blank_from(file, 0, doomed).erased


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """How many lines went, and where the first line begins that is not blank."""

    erased: int
    kept_from: int


def blank_from(
    file: IO[bytes], start: int, doomed: Callable[[bytes], bool], *, enough: Callable[[bytes], bool] | None = None
) -> ErasureResult:
    """Overwrite whole lines from the byte `start` on for which `doomed` holds, up to one that is `enough`.

    Args:
        file: open for reading and writing (`r+b`). It stays open.
        start: a byte at which a line begins.
        doomed: as in `blank_lines`.
        enough: asked for each line that is kept, also for an unfinished one. Nothing after the first for which it holds
            is read. None reads to the end.

    Returns:
        `kept_from` is a byte of the file; its end if no line is kept.
    """
    erased, at, kept_from = 0, start, None
    file.seek(start)
    while line := file.readline():
        whole = line.endswith(b"\n")
        if whole and line.strip() and doomed(line):
            file.seek(at)
            file.write(b" " * (len(line) - 1) + b"\n")
            erased += 1
        elif not whole or line.strip():
            kept_from = at if kept_from is None else kept_from
            if enough is not None and enough(line):
                break
        at += len(line)
        file.seek(at)
    file.flush()
    if erased:
        os.fsync(file.fileno())
    return ErasureResult(erased, at if kept_from is None else kept_from)
