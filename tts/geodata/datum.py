"""GCJ-02, the obfuscated datum of maps published in mainland China, and WGS-84.

Mainland providers shift every position by a smooth, position-dependent 100 to 700 m; Hong Kong, Macau, Taiwan and the
rest of the world are not shifted. The shift has no closed inverse: `to_wgs84` iterates until the forward shift of its
result is the given point to within a millimetre. Within the shift's length of the border the datum of a point cannot
be known from the point alone; there the inverse follows the side on which its result lies.
"""

from __future__ import annotations

import math
from functools import lru_cache

from tts.domain.geo import LatLon
from tts.domain.tooling import Datum
from tts.geodata.countries import Countries

# The ellipsoid of the shift: Krasovsky 1940.
_SEMI_MAJOR_M = 6378245.0
_ECCENTRICITY_2 = 0.00669342162296594323
_ITERATIONS = 30
_TOLERANCE_DEG = 1e-10


def in_mainland_china(point: LatLon) -> bool:
    """Whether a WGS-84 point lies where GCJ-02 is shifted: mainland China, not Hong Kong, Macau or Taiwan. 10 µs."""
    if not (3.0 <= point.lat <= 54.0 and 73.0 <= point.lon <= 136.0):
        return False
    country = _countries().country_at(point)
    return country is not None and country.code == "CN"


def to_gcj02(point: LatLon) -> LatLon:
    """WGS-84 to GCJ-02; the same point outside mainland China."""
    if not in_mainland_china(point):
        return point
    d_lat, d_lon = _shift(point.lat, point.lon)
    return LatLon(lat=point.lat + d_lat, lon=point.lon + d_lon)


def to_wgs84(point: LatLon) -> LatLon:
    """GCJ-02 to WGS-84, exact to a millimetre; the same point where the result is outside mainland China."""
    if not (3.0 <= point.lat <= 54.5 and 72.5 <= point.lon <= 136.5):
        return point
    lat, lon = point.lat, point.lon
    for _ in range(_ITERATIONS):
        d_lat, d_lon = _shift(lat, lon)
        next_lat, next_lon = point.lat - d_lat, point.lon - d_lon
        moved = abs(next_lat - lat) + abs(next_lon - lon)
        lat, lon = next_lat, next_lon
        if moved < _TOLERANCE_DEG:
            break
    found = LatLon(lat=lat, lon=lon)
    return found if in_mainland_china(found) else point


def as_wgs84(point: LatLon, datum: Datum) -> LatLon:
    """A point of a stated datum in WGS-84."""
    return to_wgs84(point) if datum == "GCJ-02" else point


def _shift(lat: float, lon: float) -> tuple[float, float]:
    """Degrees added to latitude and longitude at a WGS-84 position."""
    x, y = lon - 105.0, lat - 35.0
    root = math.sqrt(abs(x))
    ripple = 20.0 * math.sin(6.0 * x * math.pi) + 20.0 * math.sin(2.0 * x * math.pi)
    north = -100.0 + 2.0 * x + 3.0 * y + 0.2 * y * y + 0.1 * x * y + 0.2 * root
    north += (ripple + 20.0 * math.sin(y * math.pi) + 40.0 * math.sin(y / 3.0 * math.pi)) * 2.0 / 3.0
    north += (160.0 * math.sin(y / 12.0 * math.pi) + 320.0 * math.sin(y * math.pi / 30.0)) * 2.0 / 3.0
    east = 300.0 + x + 2.0 * y + 0.1 * x * x + 0.1 * x * y + 0.1 * root
    east += (ripple + 20.0 * math.sin(x * math.pi) + 40.0 * math.sin(x / 3.0 * math.pi)) * 2.0 / 3.0
    east += (150.0 * math.sin(x / 12.0 * math.pi) + 300.0 * math.sin(x / 30.0 * math.pi)) * 2.0 / 3.0
    phi = math.radians(lat)
    w2 = 1.0 - _ECCENTRICITY_2 * math.sin(phi) ** 2
    meridian_m = _SEMI_MAJOR_M * (1.0 - _ECCENTRICITY_2) / (w2 * math.sqrt(w2))
    parallel_m = _SEMI_MAJOR_M / math.sqrt(w2) * math.cos(phi)
    return math.degrees(north / meridian_m), math.degrees(east / parallel_m)


@lru_cache(maxsize=1)
def _countries() -> Countries:
    return Countries()
