"""What a belief supports: whether there is an answer, its level, and the names down to that level."""

from __future__ import annotations

from tts.clues.belief import Belief
from tts.clues.clue_reader import Leads
from tts.clues.postal_addresses import ADDRESS
from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Place

_W = weights("belief")
ANSWER_FROM = _W["answer_from"]
_MIN_COUNTRY_SHARE = _W["country_from"]
_MIN_CITY_SHARE = _W["city_from"]
_MIN_REGION_SHARE = _W["region_from"]
_MIN_ADDRESS_KM = _W["address_least_km"]
_MIN_TOWN_KM = _W["town_least_km"]
_ANSWER_KM = _W["answer_km"]
_TOWN_KM = _W["town_km"]
_DIVISION_KM = _W["division_km"]
_SAME_POINT_KM = _W["same_point_km"]


def is_worth_a_point(belief: Belief, leads: Leads) -> bool:
    """Whether a point is worth giving: much of the belief is near it, or one country is likelier than all others."""
    point, _ = belief.best_point()
    likely = belief.mass(point, _ANSWER_KM) >= ANSWER_FROM or belief.country[1] >= _MIN_COUNTRY_SHARE
    return likely and bool(leads.clues or leads.mentions)


def conclusion(belief: Belief, countries: Countries) -> Hypothesis:
    """Point, radius, confidence, level and names of the answer that a belief supports best."""
    return conclusion_at(belief.best_point()[0], belief, countries)


def conclusion_at(point: LatLon, belief: Belief, countries: Countries) -> Hypothesis:
    """The same for another point of the belief."""
    named = _named_hypothesis(point, place_at(point, belief), belief, countries)
    least = _MIN_ADDRESS_KM if named.level is Level.POINT else _MIN_TOWN_KM
    return named.model_copy(
        update={
            "point": LatLon(lat=round(point.lat, 5), lon=round(point.lon, 5)),
            "radius_km": round(max(least, belief.radius_km(point, 0.9)), 1),
            "confidence": round(belief.mass(point, _TOWN_KM), 3),
        }
    )


def place_at(point: LatLon, belief: Belief) -> Place | None:
    """The place of the belief that stands at a point; None where none does."""
    return next((place for place, _ in belief.places if distance_km(place.point, point) < _SAME_POINT_KM), None)


def _named_hypothesis(point: LatLon, place: Place | None, belief: Belief, countries: Countries) -> Hypothesis:
    """The level that the belief supports, and the names down to it."""
    country = countries.country_at(point)
    named = Hypothesis(
        level=Level.COUNTRY,
        country=country.name if country is not None else "",
        country_code=country.code if country is not None else "",
    )
    if place is not None and belief.mass(point, _TOWN_KM) >= _MIN_CITY_SHARE:
        at_door = place.kind == ADDRESS and belief.mass(point, _MIN_ADDRESS_KM) >= _MIN_CITY_SHARE
        level = Level.POINT if at_door else Level.CITY
        return named.model_copy(update={"level": level, "region": place.admin1, "city": place.name})
    if place is not None and belief.mass(point, _DIVISION_KM) >= _MIN_REGION_SHARE:
        return named.model_copy(update={"level": Level.REGION, "region": place.admin1})
    return named
