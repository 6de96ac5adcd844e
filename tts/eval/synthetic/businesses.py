"""Made-up businesses, as a search for places states them."""

from __future__ import annotations

from tts.domain.tooling import PlaceFact
from tts.geodata.gazetteer import Place


def business(id: str, name: str, town: Place, *, address: str = "", score: float = 0.8) -> PlaceFact:
    """A business in a town, with the town as its address unless another is given."""
    return PlaceFact(
        id=id,
        name=name,
        place_kind="poi",
        point=town.point,
        country_code=town.country_code,
        admin1=town.admin1,
        address=address or town.name,
        score=score,
        source="made up",
    )
