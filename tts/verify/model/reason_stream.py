"""The reasons of an opinion while it is being written: the `text` strings of a JSON object that is not finished yet."""

from __future__ import annotations

import json
import re

_TEXT_START = re.compile(r'"text"\s*:\s*"')
_KEPT_CHARS = 12  # longer than what an opening can be cut into


class ReasonStream:
    """Feed it pieces of a JSON text; it returns what they add to the reasons. Garbage adds nothing."""

    def __init__(self) -> None:
        self._buffer = ""
        self._is_in_string = False
        self._is_first = True

    def feed(self, piece: str) -> str:
        """The text that this piece makes readable, escapes decoded; a line break stands between two reasons."""
        self._buffer += piece
        out: list[str] = []
        while True:
            if not self._is_in_string:
                opening = _TEXT_START.search(self._buffer)
                if opening is None:
                    self._buffer = self._buffer[-_KEPT_CHARS:]
                    return "".join(out)
                self._buffer = self._buffer[opening.end() :]
                self._is_in_string = True
                out.append("" if self._is_first else "\n")
                self._is_first = False
            text, rest, ended = _take_string(self._buffer)
            out.append(text)
            self._buffer = rest
            if not ended:
                return "".join(out)
            self._is_in_string = False


def _take_string(buffer: str) -> tuple[str, str, bool]:
    """(what is readable, what is left, whether the string ended). An escape that is cut off stays for later."""
    at = 0
    while at < len(buffer) and buffer[at] != '"':
        if buffer[at] == "\\":
            width = _escape_width(buffer, at)
            if at + width > len(buffer):
                return _decode_escapes(buffer[:at]), buffer[at:], False
            at += width
        else:
            at += 1
    ended = at < len(buffer)
    return _decode_escapes(buffer[:at]), buffer[at + 1 :] if ended else "", ended


def _escape_width(buffer: str, at: int) -> int:
    """2 for a plain escape, 6 for \\uXXXX, 12 for the pair that stands for one character."""
    if buffer[at + 1 : at + 2] != "u":
        return 2
    high = buffer[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db")
    return 12 if high and "\\u".startswith(buffer[at + 6 : at + 8]) else 6


def _decode_escapes(raw: str) -> str:
    try:
        return str(json.loads(f'"{raw}"', strict=False)).encode("utf-8", "replace").decode()
    except ValueError:
        return raw
