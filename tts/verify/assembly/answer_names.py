"""Names for a point, at the level that its radius supports: an answer names no street if only the region is known."""

from __future__ import annotations

from typing import TypedDict

from tts.decision_weights import weights
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.names import normalise
from tts.verify.evidence.world import World

_MAX_CITY_NAME_KM = weights("radii")["city_name_km"]
_MAX_REGION_NAME_KM = weights("radii")["region_name_km"]


class Names(TypedDict):
    """Empty where a name is not known or finer than the level; `country_code` is ISO 3166-1 alpha-2."""

    country: str
    country_code: str
    region: str
    city: str
    place: str


def names_at(point: LatLon, level: Level, hypothesis: Hypothesis, world: World) -> Names:
    """Reverse-geocoded names down to `level`; the rollouts' own town is kept where it really lies there."""
    names = Names(country="", country_code="", region="", city="", place="")
    country = world.country_near(point)
    if country is None or level is Level.NONE:
        return names
    names["country"], names["country_code"] = country.name, country.code
    if level is Level.COUNTRY:
        return names
    own = world.place_named(hypothesis.city, point, within_km=_MAX_CITY_NAME_KM) if hypothesis.city else None
    town = (own, 0.0) if own is not None else world.town(point, max_km=_MAX_CITY_NAME_KM)
    division = town or world.town(point, max_km=_MAX_REGION_NAME_KM)
    if division is not None and division[0].country_code == country.code:
        names["region"] = division[0].admin1
    if town is not None and level.rank >= Level.CITY.rank and town[0].country_code == country.code:
        names["city"] = town[0].name
        if level is Level.POINT and normalise(hypothesis.place) != normalise(hypothesis.city):
            names["place"] = hypothesis.place
    return names
