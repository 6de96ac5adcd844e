"""Chooses the results of a recorded call that are shown: at most three useful ones, filled up to ten with useless ones,
in random order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from tts.toolkit.reverse_cache.recorded_searches import CachedResult

_MAX_USEFUL = 3
_MAX_SHOWN = 10


class ChosenResults(NamedTuple):
    """Results in the order in which they are numbered, from 1."""

    results: tuple[CachedResult, ...]

    @property
    def useful(self) -> frozenset[int]:
        """The numbers of the useful ones."""
        return frozenset(number for number, result in enumerate(self.results, 1) if result.useful)


def choose_results(results: Sequence[CachedResult], chance: random.Random) -> ChosenResults:
    """Draw useful results, then useless ones, then shuffle: in this order, so that a seed repeats the released draw.

    Args:
        results: all results of one call.
        chance: what draws and shuffles; its state is advanced.

    Returns:
        At most three useful results, filled up to ten with useless ones.
    """
    useful = [result for result in results if result.useful]
    useless = [result for result in results if not result.useful]
    take = min(len(useful), _MAX_USEFUL)
    fill = min(len(useless), _MAX_SHOWN - take)
    drawn = [*(chance.sample(useful, take) if take else []), *(chance.sample(useless, fill) if fill else [])]
    chance.shuffle(drawn)
    return ChosenResults(tuple(drawn))
