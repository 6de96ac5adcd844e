"""Finds the text between two marks in linear time.

`re.findall("<a>(.*?)</a>", text, re.DOTALL)` reads on to the end of the text from every opening mark that is never
closed. A model that repeats itself writes thousands of those, and the search takes minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class EnclosedText(NamedTuple):
    """`text` lies between the marks; `start` is where the opening mark begins and `end` where the closing one ends."""

    start: int
    text: str
    end: int


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Two marks. Finds what the expression `opening(.*?)closing` with DOTALL finds."""

    opening: re.Pattern[str]
    closing: re.Pattern[str]

    def search(self, text: str) -> EnclosedText | None:
        """The first enclosed part; None when there is none."""
        return next(self.finditer(text), None)

    def findall(self, text: str) -> list[str]:
        """Every enclosed part, in order."""
        return [found.text for found in self.finditer(text)]

    def finditer(self, text: str) -> Iterator[EnclosedText]:
        """Parts in order; they do not overlap. A part without a closing mark is none, and neither is what follows."""
        end = 0
        while (opened := self.opening.search(text, end)) is not None:
            closed = self.closing.search(text, opened.end())
            if closed is None:
                return
            end = closed.end()
            yield EnclosedText(opened.start(), text[opened.end() : closed.start()], end)


def between_tags(name: str, flags: int = 0) -> Enclosure:
    """`<name>…</name>`."""
    return Enclosure(re.compile(f"<{name}>", flags), re.compile(f"</{name}>", flags))


def value_between_tags(name: str, brackets: str) -> Enclosure:
    """`<name>…</name>` around a value in two brackets, "{}" or "[]", and blanks. The brackets belong to the value."""
    first, last = (re.escape(bracket) for bracket in brackets)
    return Enclosure(re.compile(rf"<{name}>\s*(?={first})"), re.compile(rf"(?<={last})\s*</{name}>"))


def widest_object(text: str) -> str | None:
    """From the first opening brace to the last closing one, both included; None without such a pair."""
    start, last = text.find("{"), text.rfind("}")
    return text[start : last + 1] if 0 <= start < last else None
