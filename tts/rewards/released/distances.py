"""Distances as the released scorers take them: a sphere, and the ellipsoid of geopy."""

from __future__ import annotations

import math
from typing import Any

from tts.domain.geo import WGS84

_EARTH_RADIUS_KM = 6371.0


def haversine_km(lat1: float, lon1: float, lat2: float, lon2: float, *, radius_km: float = _EARTH_RADIUS_KM) -> float:
    """Great-circle distance in km of two positions in degrees, which are not checked for their range.

    The scorers of REVERSE and GeoAgent take a sphere of 6371 km, that of GeoVista one of 6371.0088 km.
    """
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    across = math.sin(math.radians(lon2 - lon1) / 2.0) ** 2
    chord = math.sin((phi2 - phi1) / 2.0) ** 2 + math.cos(phi1) * math.cos(phi2) * across
    return 2.0 * radius_km * math.asin(math.sqrt(min(1.0, chord)))


def loose_position(lat: Any, lon: Any) -> tuple[float, float] | None:
    """A position in degrees out of values of any type, or None where geopy's `Point` would refuse them.

    Numbers, numeric strings and booleans count, an empty value is 0, longitude wraps around; a latitude beyond 90
    degrees and anything that is not finite do not (geopy 2, `Point.__new__`).
    """
    try:
        y, x = float(lat or 0.0), float(lon or 0.0)
    except (TypeError, ValueError, OverflowError):
        return None
    if not (math.isfinite(y) and math.isfinite(x)) or abs(y) > 90.0:
        return None
    return y, x if -180.0 <= x <= 180.0 else (x + 180.0) % 360.0 - 180.0


def geodesic_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Geodesic distance in km on WGS-84 of two (lat, lon) in degrees."""
    return float(WGS84.inv(a[1], a[0], b[1], b[0])[2]) / 1000.0
