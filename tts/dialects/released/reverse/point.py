"""A pair of numbers as a position. The released readers do not check it; here, an invalid position is no answer."""

from __future__ import annotations

import math

from tts.domain.geo import LatLon


def point_of(pair: tuple[float, float] | None) -> LatLon | None:
    """None for no pair, and for latitudes beyond 90, longitudes beyond 180 degrees and what is not finite."""
    if pair is None or not all(map(math.isfinite, pair)) or abs(pair[0]) > 90.0 or abs(pair[1]) > 180.0:
        return None
    return LatLon(lat=pair[0], lon=pair[1])
