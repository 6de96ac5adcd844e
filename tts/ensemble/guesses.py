"""Tells a place that was found from a town that was guessed.

Who has recognised something points at it; who only has a feeling for the region names a town and gives the coordinates
of its centre, as every atlas has them. Where rollouts do that and disagree, more of them will not agree either.
"""

from __future__ import annotations

import math
from functools import lru_cache

from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.gazetteer import Gazetteer

_AROUND_KM = 60.0


class TownCentres:
    """Kilometres from a hypothesis to the centre of the town it names; infinite when it names none there."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer

    def __call__(self, hypothesis: Hypothesis) -> float:
        point = hypothesis.point
        if point is None:
            return math.inf
        if hypothesis.level.rank < Level.CITY.rank:
            return 0.0
        if not hypothesis.city:
            return math.inf
        away = [distance_km(centre, point) for centre in self._centres(hypothesis.city)]
        return min((km for km in away if km <= _AROUND_KM), default=math.inf)

    @lru_cache(maxsize=4096)  # noqa: B019  one lives as long as its process
    def _centres(self, name: str) -> tuple[LatLon, ...]:
        places = (match.place for match in self._gazetteer.search(name, limit=24, fuzzy=False))
        return tuple(place.point for place in places if place.kind != "country")
