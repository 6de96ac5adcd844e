"""Reads the commit, the licence and single texts of a checkout."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tts.errors import ConfigError

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_LICENCE_FILES: Final = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING")
_MAX_LINE_CHARS: Final = 120


def commit_of(checkout: Path) -> str:
    """The commit that is checked out; empty where there is no git folder that says."""
    git = checkout / ".git"
    head = _first_line(git / "HEAD")
    if not head.startswith("ref: "):
        return head if _COMMIT.fullmatch(head) else ""
    name = head.removeprefix("ref: ")
    loose = _first_line(git / name)
    if _COMMIT.fullmatch(loose):
        return loose
    packed = re.search(rf"^([0-9a-f]{{40}}) {re.escape(name)}$", _text(git / "packed-refs"), re.MULTILINE)
    return packed[1] if packed else ""


def licence_of(checkout: Path) -> str:
    """The first two lines of the licence file, the first alone where both are long; empty where there is none."""
    for name in _LICENCE_FILES:
        lines = [line.strip() for line in _text(checkout / name).splitlines() if any(map(str.isalnum, line))]
        if lines:
            both = ", ".join(lines[:2])
            return both if len(both) <= _MAX_LINE_CHARS else lines[0][:_MAX_LINE_CHARS]
    return ""


def text_of_file(path: Path) -> str:
    """The whole text. Raises ConfigError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {type(error).__name__}") from error


def _first_line(path: Path) -> str:
    return next(iter(_text(path).splitlines()), "").strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
