"""An append-only file of lines that survives kill −9 and power loss.

A line is written in one call and synced before it counts; a torn last line is cut off when the file is opened again.
A lock keeps a second writer out. So after any number of crashes the file holds every finished sample exactly once.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from tts.errors import DataError

_TAIL_STEP_BYTES = 1 << 16


class Journal:
    """Open for writing by one process, from any of its threads. `append` returns when the line is on disk."""

    def __init__(self, path: Path) -> None:
        """Create or repair the file.

        Raises:
            DataError: when it cannot be written, another process writes it, or it holds no lines of JSON; then it is
                left as it is.
        """
        self.path = path
        self._write_lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise DataError(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise DataError(f"{path} is being written by another process") from error
        if not _may_be_journal(self._fd):
            os.close(self._fd)
            raise DataError(f"{path} exists and holds no JSON Lines, so nothing is added to it: choose another file")
        self.repaired_bytes = _cut_torn_tail(self._fd)
        _sync_folder(path.parent)

    def append(self, line: bytes) -> None:
        """Write one line (without newlines in it) and sync it. Blocks for a few ms: call it in a thread."""
        if b"\n" in line:
            raise ValueError("a journal line must not contain a newline")
        data = memoryview(line + b"\n")
        with self._write_lock:
            if self._fd < 0:
                raise ValueError("the journal is closed")
            while data:
                data = data[os.write(self._fd, data) :]
            os.fsync(self._fd)

    def close(self) -> None:
        """Waits for a line that a thread is writing: its descriptor must not be given to another file meanwhile."""
        with self._write_lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line) of the complete lines; what follows the last newline is torn and left out.

    Raises:
        DataError: when there is no such file.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and line.strip():
                    yield number, line
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _may_be_journal(fd: int) -> bool:
    """Whether the first line is JSON, or a line that was begun: a crash leaves part of an object, or zeros in it."""
    head = os.pread(fd, _TAIL_STEP_BYTES, 0).lstrip(b"\r\n")
    first, newline, _ = head.partition(b"\n")
    if not newline or not head.startswith(b"{"):
        return head[:1] in (b"", b"{", b"\0")
    return b"\0" in first or _is_json(first)


def _cut_torn_tail(fd: int) -> int:
    """Drop what follows the last newline, and last lines that are not JSON (blocks lost with the power)."""
    size = whole = os.fstat(fd).st_size
    while whole:
        start = _line_start(fd, whole)
        line = os.pread(fd, whole - start, start)
        if line.endswith(b"\n") and _is_json(line):
            break
        whole = start
    if whole != size:
        os.ftruncate(fd, whole)
        os.fsync(fd)
    return size - whole


def _line_start(fd: int, end: int) -> int:
    """Where the line that ends at `end` begins."""
    at = end - 1
    while at > 0:
        step = min(_TAIL_STEP_BYTES, at)
        found = os.pread(fd, step, at - step).rfind(b"\n")
        if found >= 0:
            return at - step + found + 1
        at -= step
    return 0


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """The name of a new file is durable only when its folder is synced."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
