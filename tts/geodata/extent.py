"""Estimates the radius of a town from its population."""

from __future__ import annotations

import math

from tts.geodata.gazetteer import Place

_MIN_KM = 3.0
_PEOPLE_PER_KM2 = 3000.0  # a thinly built city: its disc is rather too wide than too narrow


def town_km(place: Place) -> float:
    """Radius in km of the disc around the centre of a town that has room for its people; at least 3 km."""
    return max(_MIN_KM, math.sqrt(place.population / _PEOPLE_PER_KM2 / math.pi))
