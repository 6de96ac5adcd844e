"""Places from the embedded gazetteer: no network, no key, towns and larger only (no streets, no shops)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import CountryFact, PlaceFact
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer, Match
from tts.geodata.place_facts import place_fact


class OfflinePlaces:
    """The `PlacesProvider` over built data. Every look-up takes about a millisecond and needs no thread.

    Args:
        gazetteer: the places by name and by position.
        countries: the borders of countries.
    """

    name: Final = "offline"
    needs_network: Final = False

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self._gazetteer = gazetteer
        self._countries = countries

    def owns(self, place_id: str) -> bool:
        """Ids of the gazetteer have a prefix: gn, iso, iata or a1."""
        return place_id.partition(":")[0] in ("gn", "iso", "iata", "a1")

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Places whose whole name is the query, misspelt by at most two edits."""
        matches = self._gazetteer.search(query, countries=[country] if country else None, limit=limit)
        return [place_fact(match.place, match.score) for match in matches]

    async def autocomplete(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Places with a name that begins with the query, most important first."""
        matches = self._gazetteer.suggest(query, countries=[country] if country else None, limit=limit)
        return [place_fact(match.place, match.score) for match in matches]

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """The place of the gazetteer with this id, or None."""
        place = self._gazetteer.get(place_id)
        return None if place is None else place_fact(place, 1.0)

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Comma-separated units, smallest first; larger units narrow the search, unknown small ones are skipped.

        A unit with numbers is read as a postcode and a town: no street is known here.
        """
        units = [unit.strip() for unit in address.split(",") if unit.strip()]
        code = country.upper() if country else None
        if len(units) > 1 and (named := self._countries.find(units[-1])) is not None:
            code, units = named.code, units[:-1]
        for i, unit in enumerate(units):
            name = " ".join(word for word in unit.split() if not any(char.isdigit() for char in word))
            coded = name != unit
            matches = self._gazetteer.search(
                name,
                countries=[code] if code else None,
                kinds=("city",) if coded else None,
                limit=4 * limit,
                fuzzy=not coded,
            )
            if matches:
                return [place_fact(m.place, m.score) for m in _agreeing_matches(matches, units[i + 1 :])[:limit]]
        return []

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Cities within 300 km, nearest first; `address` holds the distance in km."""
        near = self._gazetteer.nearest(point, limit=limit)
        return [
            place_fact(place, None).model_copy(update={"address": f"{km:.1f} km away, {place.admin1}"})
            for place, km in near
        ]

    async def country_at(self, point: LatLon) -> CountryFact:
        """The country by the borders of time zones; `at_sea` also in unclaimed parts of Antarctica."""
        country = self._countries.country_at(point)
        return CountryFact(
            point=point,
            country_code=country.code if country else "",
            country=country.name if country else "",
            at_sea=country is None,
            source="time-zone borders (offline)",
        )


def _agreeing_matches(matches: list[Match], larger: list[str]) -> list[Match]:
    """Matches whose division is named by a larger unit come first."""
    wanted = {unit.casefold() for unit in larger}
    return sorted(matches, key=lambda match: match.place.admin1.casefold() not in wanted)
