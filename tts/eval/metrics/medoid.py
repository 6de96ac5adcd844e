"""The plain log-distance medoid: the answer that is nearest to all others; the baseline for every consensus."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tts.domain.geo import LatLon, distance_rows_km


def medoid_of(points: Sequence[LatLon | None]) -> LatLon | None:
    """The point with the least sum of log(1 + km) to the others, the first of equals; None where there is none."""
    stated = [point for point in points if point is not None]
    if not stated:
        return None
    costs = [sum(math.log1p(away) for away in row) for row in distance_rows_km(stated)]
    return stated[min(range(len(stated)), key=costs.__getitem__)]
