"""Places that the caller rules out: the opposite of an area (`within`). The fact that a point lies elsewhere is never
evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Area, BBox, Circle, Countries, Floats, LatLon, sphere_km_from_degrees
from tts.domain.request import LocateOptions
from tts.geodata import countries
from tts.geodata.english_names import join_names
from tts.geodata.gazetteer import Gazetteer

Mask = npt.NDArray[np.bool_]
_EDGE_KM = weights("caller")["edge_km"]
_TOWN_KM = weights("caller")["division_of_km"]


class Geography(Protocol):
    """Finds the country and the division of a point."""

    @property
    def gazetteer(self) -> Gazetteer:
        """Towns with their divisions."""
        ...

    @property
    def countries(self) -> countries.Countries:
        """Outlines of countries."""
        ...


@dataclass(frozen=True)
class RuledOut:
    """Places that hold no answer; false when there are none."""

    places: tuple[ClaimedPlace, ...] = field(default=())

    @classmethod
    def from_options(cls, options: LocateOptions) -> RuledOut:
        """Those of a request that have been looked up."""
        return cls(tuple(place for place in options.not_there if isinstance(place, ClaimedPlace)))

    def __bool__(self) -> bool:
        return bool(self.places)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Countries of which no part is left."""
        whole = [area for place in self.places if not place.region for area in place.areas]
        return frozenset(code for area in whole if isinstance(area, Countries) for code in area.codes)

    def place_at(self, point: LatLon, world: Geography) -> ClaimedPlace | None:
        """The first place that holds a point."""
        lat, lon = np.array([point.lat]), np.array([point.lon])
        return next((place for place in self.places if points_inside(place, lat, lon, world)[0]), None)

    def covers(self, lat: Floats, lon: Floats, code: str, world: Geography) -> Mask:
        """(n,) whether each point, in degrees and in the country `code`, is ruled out."""
        masks = [np.full(len(lat), code in self.codes)]
        for place in self.places:
            measured = [area for area in place.areas if not isinstance(area, Countries)]
            masks += [in_area(area, lat, lon, world.countries) for area in measured]
            if place.region and any(isinstance(area, Countries) and code in area.codes for area in place.areas):
                masks.append(_region_mask(place.region, lat, lon, world))
        return np.asarray(np.logical_or.reduce(masks))


def points_inside(place: ClaimedPlace, lat: Floats, lon: Floats, world: Geography) -> Mask:
    """(n,) whether each point, in degrees, lies in the place."""
    found: Mask = np.logical_or.reduce([in_area(area, lat, lon, world.countries) for area in place.areas])
    if place.region:
        at = np.flatnonzero(found)
        found[at] = _region_mask(place.region, lat[at], lon[at], world)
    return found


def in_area(area: Area, lat: Floats, lon: Floats, outlines: countries.Countries) -> Mask:
    """(n,) whether each point, in degrees, lies in an area; circles are taken half a kilometre wider."""
    if isinstance(area, Circle):
        return np.asarray(sphere_km_from_degrees(area.centre, lat, lon) <= area.radius_km + _EDGE_KM)
    if isinstance(area, BBox):
        return inside_box(area, lat, lon)
    codes = frozenset(area.codes)
    at = (outlines.country_at(LatLon(lat=float(a), lon=float(b))) for a, b in zip(lat, lon, strict=True))
    return np.array([country is not None and country.code in codes for country in at], dtype=np.bool_)


def inside_box(box: BBox, lat: Floats, lon: Floats, *, edge_deg: float = 0.0) -> Mask:
    """(n,) whether each point, in degrees, lies in a box that is taken so many degrees of latitude wider."""
    tall = (lat >= box.south - edge_deg) & (lat <= box.north + edge_deg)
    wide = edge_deg / np.maximum(0.05, np.cos(np.radians(lat)))
    east, west = lon <= box.east + wide, lon >= box.west - wide
    return np.asarray(tall & ((west & east) if box.west <= box.east else (west | east)))


def _region_mask(region: str, lat: Floats, lon: Floats, world: Geography) -> Mask:
    towns = (
        world.gazetteer.nearest_town(LatLon(lat=float(a), lon=float(b)), max_km=_TOWN_KM)
        for a, b in zip(lat, lon, strict=True)
    )
    return np.array([town is not None and town.admin1 == region for town in towns], dtype=np.bool_)


def labels(places: Sequence[ClaimedPlace]) -> str:
    """Their names, with “and” before the last."""
    return join_names(dict.fromkeys(place.place for place in places))
