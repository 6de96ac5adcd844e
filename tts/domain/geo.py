"""Points and areas on the WGS-84 ellipsoid.

Distances are geodesics (Karney's algorithm, through PROJ), in kilometres. A point is always written
`LatLon(lat=…, lon=…)`: no bare tuples of coordinates cross a function boundary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
from pyproj import Geod

from geotts_client.area import HALF_CIRCUMFERENCE_KM as HALF_CIRCUMFERENCE_KM
from geotts_client.area import Area as Area
from geotts_client.area import BBox as BBox
from geotts_client.area import Circle as Circle
from geotts_client.area import Countries as Countries
from geotts_client.latlon import LatLon as LatLon

Floats = npt.NDArray[np.float64]

WGS84 = Geod(ellps="WGS84")
EARTH_RADIUS_KM = 6371.0088
"""The mean radius: of a sphere that stands for the ellipsoid."""
EQUATOR_KM = 2 * math.pi * WGS84.a / 1000
"""Length of the equator, and of the world of Web Mercator."""
DEGREE_KM = 111.0
"""About a degree of latitude."""
SHORTEST_DEGREE_KM = 110.5
"""No degree of latitude is shorter."""
CITY_KM = 25.0
REGION_KM = 200.0
COUNTRY_KM = 750.0
TABLE_KM = (1.0, CITY_KM, REGION_KM, COUNTRY_KM)
"""The distances at which published tables count answers as right: a street, a city, a region, a country."""
_MAX_SCALAR_POINTS = 6


def distance_km(a: LatLon, b: LatLon) -> float:
    """Geodesic distance in km."""
    _, _, metres = WGS84.inv(a.lon, a.lat, b.lon, b.lat)
    return float(metres) / 1000.0


def distances_km(lat1: Floats, lon1: Floats, lat2: Floats, lon2: Floats) -> Floats:
    """Elementwise geodesic distances in km; four arrays of one shape, degrees."""
    if np.size(lon1) == 1:  # pyproj would take arrays of one for numbers, which NumPy below 2.4 warns of
        one = WGS84.inv(
            np.asarray(lon1).item(), np.asarray(lat1).item(), np.asarray(lon2).item(), np.asarray(lat2).item()
        )
        return np.full(np.shape(lon1), one[2] / 1000.0)
    _, _, metres = WGS84.inv(lon1, lat1, lon2, lat2)
    return np.asarray(metres, dtype=np.float64) / 1000.0


def distance_matrix_km(points: Sequence[LatLon]) -> Floats:
    """Symmetric (n, n) matrix of geodesic distances in km."""
    n = len(points)
    matrix = np.zeros((n, n))
    if n > 1:
        lat, lon = np.array([p.lat for p in points]), np.array([p.lon for p in points])
        i, j = _pair_indices(n)
        matrix[i, j] = matrix[j, i] = distances_km(lat[i], lon[i], lat[j], lon[j])
    return matrix


def distance_rows_km(points: Sequence[LatLon]) -> list[list[float]]:
    """As `distance_matrix_km`, for arithmetic on single numbers: quicker where there are a handful of points."""
    if len(points) > _MAX_SCALAR_POINTS:
        rows: list[list[float]] = distance_matrix_km(points).tolist()
        return rows
    rows = [[0.0] * len(points) for _ in points]
    for (i, a), (j, b) in combinations(enumerate(points), 2):
        rows[i][j] = rows[j][i] = distance_km(a, b)
    return rows


@lru_cache(maxsize=64)
def _pair_indices(n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    i, j = np.triu_indices(n, 1)
    return i, j


def destination(start: LatLon, *, bearing_deg: float, distance_km: float) -> LatLon:
    """The point reached from `start` along a geodesic."""
    lon, lat, _ = WGS84.fwd(start.lon, start.lat, bearing_deg, distance_km * 1000.0)
    return LatLon(lat=lat, lon=lon)


def circle_ring(centre: LatLon, radius_km: float, vertices: int = 64) -> list[LatLon]:
    """A closed ring (first vertex repeated) at `radius_km`, counter-clockwise as RFC 7946 asks."""
    ring = [
        destination(centre, bearing_deg=-360.0 * k / vertices, distance_km=min(radius_km, 0.98 * HALF_CIRCUMFERENCE_KM))
        for k in range(vertices)
    ]
    return [*ring, ring[0]]


def lies_in(point: LatLon, area: BBox | Circle) -> bool:
    """Whether an area holds a point, its edge included."""
    if isinstance(area, Circle):
        return distance_km(area.centre, point) <= area.radius_km
    if not area.south <= point.lat <= area.north:
        return False
    if area.west <= area.east:
        return area.west <= point.lon <= area.east
    return point.lon >= area.west or point.lon <= area.east


def unit_vectors(lat: Floats, lon: Floats) -> Floats:
    """(n, 3) unit vectors on the sphere; for clustering, where 0.5 % against the ellipsoid does not matter."""
    phi, lam = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)


def unit_vector(point: LatLon) -> Floats:
    """(3,) unit vector of one point on the sphere."""
    return np.array(direction_of(point))


def direction_of(point: LatLon) -> tuple[float, float, float]:
    """`unit_vector` as plain numbers, which are quicker to calculate with one by one."""
    phi, lam = math.radians(point.lat), math.radians(point.lon)
    return math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)


def arc_km(cosine: float) -> float:
    """Kilometres on the sphere between two directions with this cosine; good to a metre above 100 m."""
    return EARTH_RADIUS_KM * math.acos(max(-1.0, min(1.0, cosine)))


def sphere_km(point: LatLon, vectors: Floats) -> Floats:
    """(n,) km on the sphere from a point to (n, 3) unit vectors; within 0.6 % of the geodesic, and quick."""
    chords = vectors - unit_vector(point)
    half = 0.5 * np.sqrt(np.einsum("ij,ij->i", chords, chords))  # exact between neighbours, too
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, half)))


def sphere_km_from_degrees(point: LatLon, lat: Floats, lon: Floats) -> Floats:
    """(n,) km on the sphere from a point to (n,) latitudes and longitudes in degrees. `sphere_km` takes unit vectors,
    and rounds otherwise.
    """
    phi0, phi = math.radians(point.lat), np.radians(lat)
    half = np.sin((phi - phi0) / 2) ** 2 + math.cos(phi0) * np.cos(phi) * np.sin(np.radians(lon - point.lon) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(1.0, half))))


def from_unit_vector(v: Floats | Sequence[float]) -> LatLon:
    """The point in the direction of a vector of any length."""
    x, y, z = map(float, v)
    length = math.hypot(x, y, z)
    x, y, z = x / length, y / length, z / length
    return LatLon(lat=math.degrees(math.asin(max(-1.0, min(1.0, z)))), lon=math.degrees(math.atan2(y, x)))
