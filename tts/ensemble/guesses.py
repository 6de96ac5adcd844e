"""Distinguishes a place that was found from a town that was guessed.

A model that recognises a place gives its coordinates. A model that only suspects the region names a town and gives the
coordinates of its centre. If rollouts do this and disagree, more rollouts will not agree either.
"""

from __future__ import annotations

import math

from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.gazetteer import Gazetteer
from tts.verify.consensus.guesswork import NAMED_TOWN_KM


class TownCentres:
    """Kilometres from a hypothesis to the centre of the town it names; infinite when it names none there."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer

    def __call__(self, hypothesis: Hypothesis) -> float:
        """Infinite without a point or a town of that name near it; 0 where the level is coarser than a town."""
        point = hypothesis.point
        if point is None:
            return math.inf
        if hypothesis.level.rank < Level.CITY.rank:
            return 0.0
        if not hypothesis.city:
            return math.inf
        named = self._gazetteer.nearest_named(hypothesis.city, point, within_km=NAMED_TOWN_KM)
        return math.inf if named is None else named[1]
