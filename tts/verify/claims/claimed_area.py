"""Decides which points lie in a claimed place, and gives its prior probability."""

from __future__ import annotations

import numpy as np

from tts.clues.priors import Priors
from tts.clues.ruled_out_places import Mask as Mask
from tts.clues.ruled_out_places import points_inside as points_inside
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import BBox, Circle, Countries, Floats, LatLon
from tts.verify.evidence.world import World


def contains_point(place: ClaimedPlace, point: LatLon, world: World) -> bool:
    """Whether one point lies in the place."""
    return bool(points_inside(place, np.array([point.lat]), np.array([point.lon]), world)[0])


def prior_of(place: ClaimedPlace, priors: Priors, world: World) -> float:
    """The share of all photos that are taken in the place, in [0, 1]."""
    if not place.region and all(isinstance(area, Countries) for area in place.areas):
        codes = {code for area in place.areas if isinstance(area, Countries) for code in area.codes}
        return sum(priors.country_share(code) for code in codes)
    lat, lon, share = priors.all_towns
    if place.region:
        lat, lon, share = _towns_of_countries(place, priors)
    return float(share[points_inside(place, lat, lon, world)].sum())


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


def _towns_of_countries(place: ClaimedPlace, priors: Priors) -> tuple[Floats, Floats, Floats]:
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
