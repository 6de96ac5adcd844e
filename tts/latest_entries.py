"""A dictionary of limited size, for what a process remembers of the latest sessions, photos or requests."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LatestEntries(OrderedDict[K, V]):
    """Keeps the entries that were written last, the latest at the end.

    Args:
        limit: most entries; what was written longest ago is dropped.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._limit:
            self.popitem(last=False)
