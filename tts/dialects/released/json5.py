"""JSON5 as the notebook's agent reads tool calls: comments, trailing commas, single quotes, bare keys, more numbers.

https://spec.json5.org/ (chapters 3 to 7). A text has one reading or none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

_SPACE: Final = re.compile(r"(?:\s|\ufeff|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:0|[1-9]\d*)?\.\d+(?:[eE][+-]?\d+)?|"
                            r"(?:0|[1-9]\d*)\.?(?:[eE][+-]?\d+)?)(?![\w$])")  # fmt: skip
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$]*")
_LITERALS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0", "\n": "", "\u2028": "",
                   "\u2029": ""}  # fmt: skip
_MAX_DEPTH: Final = 64


def read_json5(text: str) -> JsonValue:
    """Raises ValueError where the text is no JSON5."""
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip()
    if reader.at != len(text):
        raise ValueError(f"something follows the value at {reader.at}")
    return value


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self, depth: int) -> JsonValue:
        self.skip()
        char = self.text[self.at : self.at + 1]
        if depth > _MAX_DEPTH or not char:
            raise ValueError(f"no value at {self.at}")
        if char == "{":
            return self._read_object(depth)
        if char == "[":
            return self._read_array(depth)
        if char in "\"'":
            return self._read_string(char)
        if found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            return _parse_number(found[0])
        name = self._read_name()
        if name not in _LITERALS:
            raise ValueError(f"{name!r} is no value")
        return _LITERALS[name]

    def _read_object(self, depth: int) -> JsonValue:
        found: dict[str, JsonValue] = {}
        self.at += 1
        while not self._take_closing("}"):
            char = self.text[self.at : self.at + 1]
            key = self._read_string(char) if char in ('"', "'") else self._read_name()
            self._take(":")
            found[key] = self.value(depth + 1)
            self._take_comma("}")
        return found

    def _read_array(self, depth: int) -> JsonValue:
        found: list[JsonValue] = []
        self.at += 1
        while not self._take_closing("]"):
            found.append(self.value(depth + 1))
            self._take_comma("]")
        return found

    def _take_closing(self, bracket: str) -> bool:
        self.skip()
        closed = self.text.startswith(bracket, self.at)
        self.at += closed
        return closed

    def _take(self, char: str) -> None:
        self.skip()
        if not self.text.startswith(char, self.at):
            raise ValueError(f"{char!r} is missing at {self.at}")
        self.at += 1

    def _take_comma(self, bracket: str) -> None:
        self.skip()
        if not self.text.startswith(bracket, self.at):
            self._take(",")

    def _read_name(self) -> str:
        found = _IDENTIFIER.match(self.text, self.at)
        if found is None:
            raise ValueError(f"no name at {self.at}")
        self.at = found.end()
        return found[0]

    def _read_string(self, quote: str) -> str:
        self.at += 1
        pieces: list[str] = []
        while not self.text.startswith(quote, self.at):
            char = self.text[self.at : self.at + 1]
            if char in ("", "\n", "\r"):
                raise ValueError("a string does not end")
            pieces.append(self._read_escape() if char == "\\" else char)
            self.at += 1
        self.at += 1
        return "".join(pieces)

    def _read_escape(self) -> str:
        """The character an escape stands for; `at` is left on its last character."""
        self.at += 1
        char = self.text[self.at : self.at + 1]
        digits = {"x": 2, "u": 4}.get(char)
        if digits is None:
            return _ESCAPES.get(char, char)
        code = self.text[self.at + 1 : self.at + 1 + digits]
        self.at += digits
        return chr(int(code, 16))


def _parse_number(text: str) -> JsonValue:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        return sign * int(digits, 16)
    if digits in ("Infinity", "NaN"):
        return sign * float(digits.lower().replace("infinity", "inf"))
    return sign * (int(digits) if digits.isdigit() else float(digits))
