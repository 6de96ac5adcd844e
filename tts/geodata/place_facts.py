"""The places that tools state, and places of the gazetteer: the conversions in both directions."""

from __future__ import annotations

from tts.domain.tooling import PlaceFact
from tts.geodata.gazetteer import Place

_SOURCE = "GeoNames (offline)"


def place_fact(place: Place, score: float | None) -> PlaceFact:
    """`score`: how well the place's name matched the query, 0 to 1; None when it was not asked for by name."""
    return PlaceFact(
        id=place.id,
        name=place.name,
        place_kind=place.kind,
        point=place.point,
        country_code=place.country_code,
        admin1=place.admin1,
        population=place.population or None,
        score=None if score is None else round(score, 3),
        source=_SOURCE,
        url=f"https://www.geonames.org/{place.id[3:]}" if place.id.startswith("gn:") else None,
    )


def stated_place(fact: PlaceFact, kind: str) -> Place:
    """The place that a tool states, as one of the gazetteer and of this kind. Raises ValueError without a point."""
    if fact.point is None:
        raise ValueError(f"{fact.id} has no point")
    return Place(fact.id, fact.name, kind, fact.point, fact.country_code, fact.admin1, fact.population or 0)
