"""Remembers erased names, so that work that still runs for such a name does not write it again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

_MAX_NAMES = 10_000


class ErasedNames:
    """Remembers the latest erased names in the order of their erasure; a mark is a moment in that order."""

    def __init__(self) -> None:
        self._number = 0
        self._names: OrderedDict[str, int] = OrderedDict()

    def add(self, name: str) -> None:
        """Note that a name is erased now; if there are too many names, the oldest is dropped.

        Args:
            name: the SHA-256 of a photo or the id of a request; the last 10,000 are remembered.
        """
        self._number += 1
        self._names.pop(name, None)
        self._names[name] = self._number
        if len(self._names) > _MAX_NAMES:
            self._names.popitem(last=False)

    def mark(self) -> int:
        """Mark the present moment, for a later call of `was_erased_since`.

        Returns:
            A number that grows with each name that is erased.
        """
        return self._number

    def was_erased_since(self, mark: int, names: Iterable[str]) -> bool:
        """Tell whether any of the names was erased after `mark`.

        Args:
            mark: what `mark()` returned; 0 for the beginning.
            names: as in `add`; those that are not remembered count as not erased.

        Returns:
            True if work that began at `mark` must not write what it has.
        """
        return any(self._names.get(name, 0) > mark for name in names)
