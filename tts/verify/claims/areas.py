"""Which points lie in a claimed place, and how likely it is before anything of the photo is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tts.clues.belief import distances_from
from tts.clues.priors import Priors
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Area, BBox, Circle, Countries, Floats, LatLon
from tts.verify.evidence.world import World

Mask = npt.NDArray[np.bool_]
_EDGE_KM = 0.5  # a town's centre is known to some hundred metres
_TOWN_KM = 100.0  # a point belongs to the division of the nearest town, if that is not farther


def inside(place: ClaimedPlace, lat: Floats, lon: Floats, world: World) -> Mask:
    """(n,) whether each point, in degrees, lies in the place."""
    masks = [_in_area(area, lat, lon, world) for area in place.areas]
    found: Mask = np.logical_or.reduce(masks)
    if place.region:
        for i in np.flatnonzero(found):
            town = world.gazetteer.nearest_town(LatLon(lat=float(lat[i]), lon=float(lon[i])), max_km=_TOWN_KM)
            found[i] = town is not None and town.admin1 == place.region
    return found


def holds(place: ClaimedPlace, point: LatLon, world: World) -> bool:
    """Whether one point lies in the place."""
    return bool(inside(place, np.array([point.lat]), np.array([point.lon]), world)[0])


def prior_of(place: ClaimedPlace, priors: Priors, world: World) -> float:
    """The share of all photos that are taken in the place, in [0, 1]."""
    if not place.region and all(isinstance(area, Countries) for area in place.areas):
        codes = {code for area in place.areas if isinstance(area, Countries) for code in area.codes}
        return sum(priors.country_share(code) for code in codes)
    lat, lon, share = priors.everywhere
    if place.region:
        lat, lon, share = _of_countries(place, priors)
    return float(share[inside(place, lat, lon, world)].sum())


def reach_km(place: ClaimedPlace) -> float:
    """How far the place reaches from its middle, in km: that of its largest circle; none for countries and regions."""
    return max((area.radius_km for area in place.areas if isinstance(area, Circle)), default=0.0)


def centre_of(place: ClaimedPlace) -> LatLon | None:
    """The middle of the first circle or rectangle; None for countries and regions."""
    area = place.areas[0]
    if isinstance(area, Circle):
        return area.centre
    if isinstance(area, BBox):
        wide = (area.east - area.west) % 360.0
        return LatLon(lat=(area.south + area.north) / 2, lon=(area.west + wide / 2 + 540.0) % 360.0 - 180.0)
    return None


def _of_countries(place: ClaimedPlace, priors: Priors) -> tuple[Floats, Floats, Floats]:
    """The towns of the countries of a region, with their shares of all photos."""
    codes = [code for area in place.areas if isinstance(area, Countries) for code in area.codes if code in priors.towns]
    towns = [(code, priors.towns[code]) for code in codes]
    share = [priors.country_share(code) * found.share for code, found in towns]
    empty: Floats = np.zeros(0)
    return (
        np.concatenate([empty, *(found.lat for _, found in towns)]),
        np.concatenate([empty, *(found.lon for _, found in towns)]),
        np.concatenate([empty, *share]),
    )


def _in_area(area: Area, lat: Floats, lon: Floats, world: World) -> Mask:
    if isinstance(area, Circle):
        return np.asarray(distances_from(area.centre, lat, lon) <= area.radius_km + _EDGE_KM)
    if isinstance(area, BBox):
        tall = (lat >= area.south) & (lat <= area.north)
        wide = (
            (lon >= area.west) & (lon <= area.east)
            if area.west <= area.east
            else (lon >= area.west) | (lon <= area.east)
        )
        return np.asarray(tall & wide)
    codes = frozenset(area.codes)
    at = (world.countries.at(LatLon(lat=float(a), lon=float(b))) for a, b in zip(lat, lon, strict=True))
    return np.array([country is not None and country.code in codes for country in at], dtype=np.bool_)
