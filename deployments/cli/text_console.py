"""A console that prints strings as plain text: no file name and no text of a model becomes markup, a link or a command
to the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

_LAYOUT_CHARS = "\n\t"
_SHOWN_NAMES = 10


class TextConsole(Console):
    """Styles are given as `rich.text.Text`, see `styled_text`. A string is shown as it is, without control
    characters."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as rich does, but strings as plain text without control characters (`printable`)."""
        super().print(*(Text(printable(one)) if isinstance(one, str) else one for one in objects), **how)


def styled_text(*parts: str | tuple[str, str]) -> Text:
    """One text of parts, each a string or a string and its style."""
    text = Text()
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(words), style)
    return text


def shown_names(names: Sequence[str], total: int | None = None) -> str:
    """The first ten names, and how many more there are; `total` says how many there are if `names` are not all."""
    more = (len(names) if total is None else total) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def printable(text: str) -> str:
    """The text with a blank for each control character, and escapes for what no encoding has (names of files)."""
    known = text.encode(errors="backslashreplace").decode()
    return "".join(char if char.isprintable() or char in _LAYOUT_CHARS else " " for char in known)
