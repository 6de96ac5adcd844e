"""The place that a claim names. Only the place is taken from the text of the claim; the rest of the text has no effect.

A claim is compared with the photo. It is never evidence, and its text is never sent to a model: rollouts that test it
get the name from the gazetteer.
"""

from __future__ import annotations

from collections.abc import Sequence

from geotts_client.area_words import area_of
from geotts_client.check_options import Statement
from tts.clues.clue_reader import ClueReader
from tts.clues.hint_names import stated_in
from tts.decision_weights import weights
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Area, Circle, Countries
from tts.geodata.area_from_text import WAYS, countries_in_words
from tts.geodata.extent import town_km
from tts.geodata.gazetteer import Place

_NEAR_TOWN_KM = weights("checks")["near_town_km"]
_MAX_NAMES = 3


def claimed_place(statement: Statement, reader: ClueReader) -> ClaimedPlace:
    """The place that a statement names: a town with its extent, a region, countries, or the area that it writes down.

    Raises:
        ValueError: it names no place that is known, several, or only where the photo was not taken. The message says
            which, and repeats nothing of the statement.
    """
    if not isinstance(statement, str):
        return _place_of_area(statement, "", reader)
    try:
        return _place_of_area(area_of(statement), statement, reader)
    except ValueError:
        pass
    stated = stated_in(statement, reader)
    if stated is None:
        return _place_in_words(statement, reader)
    if stated.denied:
        raise ValueError("it says where the photo was not taken; claim the place where it was")
    if len(stated.names) > 1:
        raise ValueError("it names several places; send a list of them to compare")
    return places_of(stated.names[0], statement, reader, near=stated.near)


def _place_in_words(statement: str, reader: ClueReader) -> ClaimedPlace:
    """Countries by their names."""
    try:
        return _place_of_area(countries_in_words(statement, reader.countries), statement, reader)
    except ValueError:
        raise ValueError(
            f"it names no place that GeoTTS knows; write the name of a town or country, or {WAYS}"
        ) from None


def _place_of_area(area: Area, statement: str, reader: ClueReader) -> ClaimedPlace:
    if isinstance(area, Countries):
        if unknown := [code for code in area.codes if reader.countries.get(code) is None]:
            raise ValueError(f"no country has the code {', '.join(unknown[:5])} (ISO 3166-1 alpha-2, such as FR)")
        names = [reader.countries.name(code) for code in area.codes]
        more = f" or {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        return ClaimedPlace(
            claim=statement, place=" or ".join(names[:_MAX_NAMES]) + more, kind="country", areas=(area,)
        )
    if isinstance(area, Circle):
        place = f"within {area.radius_km:g} km of {area.centre}"
    else:
        place = f"the area from {area.south:g}, {area.west:g} to {area.north:g}, {area.east:g}"
    return ClaimedPlace(claim=statement, place=place, kind="area", areas=(area,))


def places_of(places: Sequence[Place], statement: str, reader: ClueReader, *, near: bool) -> ClaimedPlace:
    """Of a name that a country, a region and towns may bear, the towns where there are any; `near` them, too."""
    towns = [place for place in places if place.kind not in ("country", "admin1")]
    if towns:
        labels = list(dict.fromkeys(_label(town, reader) for town in towns))
        areas = tuple(Circle(centre=town.point, radius_km=_reach_km(town, near=near)) for town in towns)
        return ClaimedPlace(claim=statement, place=" or ".join(labels[:_MAX_NAMES]), kind="town", areas=areas)
    first = places[0]
    area = Countries(codes=(first.country_code,))
    if first.kind == "country":
        return _place_of_area(area, statement, reader)
    return ClaimedPlace(
        claim=statement, place=_label(first, reader), kind="region", areas=(area,), region=first.admin1 or first.name
    )


def _reach_km(town: Place, *, near: bool) -> float:
    return town_km(town) + (_NEAR_TOWN_KM if near else 0.0)


def _label(place: Place, reader: ClueReader) -> str:
    return f"{place.name} ({reader.countries.name(place.country_code)})"
