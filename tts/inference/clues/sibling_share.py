"""Divides what is worth asking among the rollouts of a request, so that no two of them ask the same.

Each rollout lists the same options in the same order, because the list depends on the photo and not on its seed. The
first option belongs to the first rollout, the second to the second, and so on in turn. No rollout waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_Option = TypeVar("_Option")


@dataclass(frozen=True, slots=True)
class SiblingShare:
    """`number` is that of the rollout, from 0; `of` how many there are. Of one rollout everything is its own."""

    number: int = 0
    of: int = 1

    def own_options(self, options: Sequence[_Option]) -> list[_Option]:
        """Every `of`-th option, in their order."""
        return list(options[self.number % self.of :: self.of])

    @property
    def is_first(self) -> bool:
        """Whether this rollout makes a call that only one of them has to make."""
        return self.number % self.of == 0
