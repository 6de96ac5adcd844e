"""The place of an answer that a caller rejects: only the unit (town, region or country) that the answer names."""

from __future__ import annotations

from geotts_client.answer import Answer
from tts.clues.clue_reader import ClueReader
from tts.decision_weights import weights
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Circle, Countries, LatLon, distance_km
from tts.domain.hypothesis import Level
from tts.geodata.extent import town_km

_W = weights("caller")
_EDGE_KM = _W["edge_km"]
_SPOT_RADIUS_RANGE_KM = (_W["least_spot_km"], _W["most_spot_km"])
_NAMED_TOWN_KM = weights("votes")["named_town_km"]


def rejected_place(answer: Answer, reader: ClueReader) -> ClaimedPlace:
    """The country, the region, the town with its extent, or the surroundings of the spot.

    Raises:
        ValueError: the answer names no place.
    """
    point = answer.point
    if point is None:
        raise ValueError("the earlier answer names no place; say which place it is not")
    if answer.level in (Level.COUNTRY, Level.REGION) and answer.country_code:
        return _unit_place(answer)
    if answer.level is Level.CITY and answer.city:
        return _town_place(answer, point, reader)
    p50_km = answer.radius_km.p50 if answer.radius_km is not None else _SPOT_RADIUS_RANGE_KM[0]
    least, most = _SPOT_RADIUS_RANGE_KM
    circle = Circle(centre=point, radius_km=min(most, max(least, p50_km)))
    return ClaimedPlace(
        place=_name_with_country(answer) or f"the surroundings of {point}", kind="area", areas=(circle,)
    )


def _unit_place(answer: Answer) -> ClaimedPlace:
    area = Countries(codes=(answer.country_code,))
    if answer.level is Level.COUNTRY or not answer.region:
        return ClaimedPlace(place=answer.country or answer.country_code, kind="country", areas=(area,))
    place = f"{answer.region} ({answer.country})"
    return ClaimedPlace(place=place, kind="region", areas=(area,), region=answer.region)


def _town_place(answer: Answer, point: LatLon, reader: ClueReader) -> ClaimedPlace:
    """The disc of the town, which holds the point that was answered."""
    found = reader.gazetteer.search(answer.city, kinds=("city",), limit=12, fuzzy=False)
    towns = [match.place for match in found if distance_km(match.place.point, point) <= _NAMED_TOWN_KM]
    town = min(towns, key=lambda place: distance_km(place.point, point), default=None)
    centre, extent_km = (town.point, town_km(town)) if town is not None else (point, _SPOT_RADIUS_RANGE_KM[1])
    circle = Circle(centre=centre, radius_km=max(extent_km, distance_km(centre, point) + _EDGE_KM))
    return ClaimedPlace(place=_name_with_country(answer), kind="town", areas=(circle,))


def _name_with_country(answer: Answer) -> str:
    name = answer.place or answer.city
    return f"{name} ({answer.country})" if name and answer.country else name
