"""What a map shows: a rectangle of pixels in Web Mercator, and where positions fall in it.

The world is a square of `256 * 2**zoom` pixels, as in every tile scheme; longitudes wrap, latitudes end at 85.05°. A
view near a pole is moved until the world fills it, so its centre may differ from the one that was asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tts.domain.geo import EQUATOR_KM, LatLon

Floats = npt.NDArray[np.floating[Any]]
MAX_LATITUDE: Final = math.degrees(math.atan(math.sinh(math.pi)))  # 85.0511…: there the square of Web Mercator ends
MIN_ZOOM = 1.0
MAX_ZOOM = 12.0


@dataclass(frozen=True)
class View:
    """A map's frame: `zoom` as in tile schemes (may be a fraction), size in pixels."""

    centre: LatLon
    zoom: float
    width: int
    height: int

    @property
    def world_px(self) -> float:
        """The world's side in pixels."""
        return float(256.0 * 2.0**self.zoom)

    @cached_property
    def left(self) -> float:
        """World pixel of the left edge; negative or beyond the world where the view crosses the antimeridian."""
        return float(mercator_x(np.array([self.centre.lon]))[0] * self.world_px - self.width / 2)

    @cached_property
    def top(self) -> float:
        """World pixel of the top edge, moved into the world; negative where the whole world is lower than the view."""
        at = float(mercator_y(np.array([self.centre.lat]))[0] * self.world_px - self.height / 2)
        if self.world_px <= self.height:
            return (self.world_px - self.height) / 2
        return min(max(0.0, at), self.world_px - self.height)

    @property
    def km_per_px(self) -> float:
        """Ground length of a pixel at the centre."""
        lat = float(self.latitudes(np.array([self.height / 2]))[0])
        return EQUATOR_KM * math.cos(math.radians(lat)) / self.world_px

    def xy(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Pixels of positions; of all copies of the world the one nearest to the middle of the view."""
        x = mercator_x(lon) * self.world_px - self.left
        middle = self.width / 2
        x = middle + (x - middle + self.world_px / 2) % self.world_px - self.world_px / 2
        return x, mercator_y(lat) * self.world_px - self.top

    def pixel(self, point: LatLon) -> tuple[float, float]:
        """Pixel (x, y) of a point, y downwards; outside the frame where the point is."""
        x, y = self.xy(np.array([point.lat]), np.array([point.lon]))
        return float(x[0]), float(y[0])

    def latitudes(self, y: Floats) -> Floats:
        """Latitudes in degrees of pixel rows."""
        merc = np.pi * (1 - 2 * (y + self.top) / self.world_px)
        return np.asarray(np.degrees(np.arctan(np.sinh(merc))))

    def longitudes(self, x: Floats) -> Floats:
        """Longitudes in degrees of pixel columns, continuous across the view (they may leave -180…180)."""
        return np.asarray((x + self.left) / self.world_px * 360.0 - 180.0)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """South, west, north, east in degrees; west and east are continuous and at most 360° apart."""
        south, north = self.latitudes(np.array([float(self.height), 0.0]))
        west, east = self.longitudes(np.array([0.0, float(self.width)]))
        return float(south), float(west), float(north), float(min(east, west + 360.0))


def mercator_x(lon: Floats) -> Floats:
    """0 at 180° west, 1 at 180° east."""
    return np.asarray(lon / 360.0 + 0.5)


def mercator_y(lat: Floats) -> Floats:
    """0 at 85.05° north, 1 at 85.05° south."""
    clipped = np.radians(np.clip(lat, -MAX_LATITUDE, MAX_LATITUDE))
    return np.asarray(0.5 - np.arcsinh(np.tan(clipped)) / (2 * np.pi))


def degrees_of(points: npt.NDArray[Any]) -> Floats:
    """(n, 2) longitudes and latitudes in degrees of (n, 2) world units; longitudes may exceed 180."""
    world = np.asarray(points, np.float64)
    lat = np.degrees(np.arctan(np.sinh((0.5 - world[:, 1]) * 2 * np.pi)))
    return np.stack([(world[:, 0] - 0.5) * 360.0, lat], axis=1)


def zoom_for(radius_km: float, lat: float, side_px: int) -> float:
    """The zoom at which a circle of `radius_km` fills three quarters of a picture with `side_px`; within the limits."""
    circumference = EQUATOR_KM * max(0.05, math.cos(math.radians(lat)))
    wanted = 0.75 * side_px * circumference / (256.0 * 2.0 * max(radius_km, 0.05))
    return min(MAX_ZOOM, max(MIN_ZOOM, math.log2(wanted)))
