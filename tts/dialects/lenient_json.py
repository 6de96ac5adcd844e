"""Reads JSON as models write it when they write it by hand: comments, bare and half-quoted texts, quotes in strings.

One pass and no second try: a text has one reading or none. What is no number as JSON has it (`+48.1`, `48.1° N`, `NaN`)
is left as text, for others to judge.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

_BLANKS: Final = re.compile(r"(?:[\s\u200b\ufeff]++|(?://|#)[^\n]{0,200}+|/\*.{0,200}?\*/)*+", re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CLOSING: Final = {'"': '"', "'": "'", "“": '“”"', "”": '“”"', "„": '“”"', "＂": '＂"', "‘": "‘’'", "’": "‘’'"}
_MARKS: Final = {quote: re.compile(rf"\\.|[\n{closing}]", re.DOTALL) for quote, closing in _CLOSING.items()}
_QUOTE: Final = "[\"'“”„＂‘’]"
_BARE_KEY: Final = re.compile(r"[^\W\d][\w.-]{0,60}")
_KEY: Final = rf"(?:{_QUOTE}[^\"'“”„＂‘’\n]{{1,60}}{_QUOTE}|{_BARE_KEY.pattern})\s{{0,60}}[:：]"
_BEGIN: Final = re.compile(
    rf"\{{{_BLANKS.pattern}(?:(?:{_QUOTE}[^\n{{}}]{{0,200}}?{_QUOTE}|{_BARE_KEY.pattern})\s{{0,60}}[:：]|\}})",
    re.DOTALL,
)
# what follows a quote that ends its string
_AFTER_KEY: Final = re.compile(r"\s{0,60}[:：]")
_AFTER_VALUE: Final = re.compile(
    rf"\s{{0,60}}(?:[}}｝]|//|#|/\*|[,，]\s{{0,60}}(?:{_KEY}|[}}\]｝]|//|#|/\*|$)|$)|[^\S\n]{{0,60}}\n\s{{0,60}}{_KEY}"
)
_AFTER_ITEM: Final = re.compile(
    rf"\s{{0,60}}(?:[\]}}｝]|//|#|/\*|$|[,，]\s{{0,60}}(?:{_QUOTE}|[{{\[\]\d.…+-]|true|false|null|None|//|#))"
)
_NEXT_LINE: Final = re.compile(rf"[^\S\n]{{0,60}}{_QUOTE}[A-Za-z_]{{2,30}}{_QUOTE}\s{{0,9}}[:：]")
# where a text without quotes ends
_END_OF_VALUE: Final = re.compile(rf"[\n}}｝]|[,，](?=[^\S\n]{{0,60}}(?:{_KEY}|[\n}}｝]|//|#|/\*|$))")
_END_OF_ITEM: Final = re.compile(r"[\n,，\]]")
_TRAILING_COMMENT: Final = re.compile(r"\s(?://|#|/\*)")
_ESCAPE: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\[\"'\\/bfnrt]")
_MAX_DEPTH: Final = 64


def begins_object(text: str, at: int) -> bool:
    """Whether the brace at this place begins an object, by the key behind it, and is no sign of prose or a template."""
    return _BEGIN.match(text, at) is not None


def read_object(text: str) -> dict[str, Any] | None:
    """The object that the text is, from its first brace to its last; None where it has no reading."""
    reader = _Reader(text)
    try:
        value = reader.read_object(0)
    except ValueError:
        return None
    return value if reader.at == len(text) else None


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0

    def read_object(self, depth: int) -> dict[str, Any]:
        """The object that begins here. Raises ValueError where it has no reading."""
        found: dict[str, Any] = {}
        self._skip("{｛")
        while not self._skip("}｝"):
            key = self._read_key()
            if not self._skip(":："):
                raise ValueError(f"no colon at {self.at}")
            found[key] = self._read_value(depth, _AFTER_VALUE, _END_OF_VALUE)
            self._read_separator("}｝")
        return found

    def _read_array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._skip("[")
        while not self._skip("]"):
            item = self._read_value(depth, _AFTER_ITEM, _END_OF_ITEM)
            found += [item] if item not in ("...", "…") else []
            self._read_separator("]")
        return found

    def _read_key(self) -> str:
        if (quote := self._next()) in _CLOSING:
            return self._read_string(quote, _AFTER_KEY)
        if (bare := _BARE_KEY.match(self.text, self.at)) is None:
            raise ValueError(f"no key at {self.at}")
        self.at = bare.end()
        return bare[0]

    def _read_value(self, depth: int, after: re.Pattern[str], end: re.Pattern[str]) -> Any:
        char = self._next()
        if depth > _MAX_DEPTH or not char:
            raise ValueError(f"no value at {self.at}")
        if char in "{｛":
            return self.read_object(depth + 1)
        if char == "[":
            return self._read_array(depth + 1)
        return self._read_string(char, after) if char in _CLOSING else self._read_bare(end)

    def _read_string(self, quote: str, after: re.Pattern[str]) -> str:
        """To the quote that is followed by what may follow a string, or to a line break before a key."""
        start = self.at + 1
        for mark in _MARKS[quote].finditer(self.text, start):
            at = mark.start()
            if mark[0] == "\n" and _NEXT_LINE.match(self.text, at + 1):
                self.at = at
                return _unescaped(self.text[start:at].rstrip().rstrip(",，"))
            if mark[0] in _CLOSING[quote] and after.match(self.text, at + 1):
                self.at = at + 1
                return _unescaped(self.text[start:at])
        raise ValueError(f"a string without an end at {self.at}")

    def _read_bare(self, end: re.Pattern[str]) -> Any:
        found = end.search(self.text, self.at)
        stop = found.start() if found else len(self.text)
        written = _TRAILING_COMMENT.split(self.text[self.at : stop], maxsplit=1)[0].strip()
        if not written:
            raise ValueError(f"no value at {self.at}")
        self.at = stop
        if written in _WORDS:
            return _WORDS[written]
        return json.loads(written) if _NUMBER.fullmatch(written) else written.strip("\"'“”")

    def _read_separator(self, end: str) -> None:
        """Commas, a line break in their place, or the end, which stays."""
        start = self.at
        if self._next() and (self.text[self.at] in end or "\n" in self.text[start : self.at]):
            pass
        elif not self._skip(",，"):
            raise ValueError(f"no comma at {self.at}")
        while self._skip(",，"):
            pass

    def _next(self) -> str:
        """The next character that is neither blank nor in a comment; it is not consumed."""
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _skip(self, chars: str) -> bool:
        """Consume the next character if it is one of these."""
        char = self._next()
        is_there = bool(char) and char in chars
        self.at += is_there
        return is_there


def _unescaped(written: str) -> str:
    """What is no escape of JSON stays as it is written: `\\circ` is a word of the model."""
    return _ESCAPE.sub(lambda found: "'" if found[0] == "\\'" else str(json.loads(f'"{found[0]}"')), written)
