"""The embedded geography that checks need, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from tts.clues.clue_reader import ClueReader
from tts.decision_weights import weights
from tts.domain.geo import LatLon, destination
from tts.geodata.countries import Countries, Country
from tts.geodata.gazetteer import Gazetteer, Place

_W = weights("checks")
BORDER_KM = _W["border_km"]
_MAX_COAST_KM = _W["coast_km"]


@dataclass(frozen=True, slots=True, repr=False)
class World:
    """Gazetteer and countries together. Its repr is short: it leaves out all names of places.

    `clues` is there where lines of lettering are weighed too (`tts.verify.consensus.pooled_lines`).
    """

    gazetteer: Gazetteer
    countries: Countries
    clues: ClueReader | None = None

    def lies_in(self, point: LatLon, code: str, *, tolerance_km: float = BORDER_KM) -> bool:
        """Whether a point lies in a country or within a few kilometres of it: borders are drawn coarsely."""
        return is_near_country(point, code, self.countries, tolerance_km=tolerance_km)

    def at_sea(self, point: LatLon) -> bool:
        """Farther than 15 km from any land."""
        if self.countries.country_at(point) is not None:
            return False
        return all(near is None for near in self._countries_around(point, _MAX_COAST_KM))

    def country_near(self, point: LatLon) -> Country | None:
        """The country at a point, or the nearest within 15 km of a coast."""
        here = self.countries.country_at(point)
        if here is not None:
            return here
        return next((near for near in self._countries_around(point, _MAX_COAST_KM) if near is not None), None)

    def town(self, point: LatLon, *, max_km: float) -> tuple[Place, float] | None:
        """The most important town within reach: larger towns may be farther away."""
        near = self.gazetteer.nearest(point, limit=24, max_km=max_km)
        return min(near, key=_size_adjusted_distance_km, default=None)

    def place_named(self, name: str, point: LatLon, *, within_km: float) -> Place | None:
        """The place with this name that lies near a point; None when there is none."""
        found = self.gazetteer.nearest_named(name, point, within_km=within_km)
        return None if found is None else found[0]

    def _countries_around(self, point: LatLon, km: float) -> list[Country | None]:
        return _countries_around(point, km, self.countries)


def is_near_country(point: LatLon, code: str, countries: Countries, *, tolerance_km: float) -> bool:
    """Whether a point lies in a country or within some kilometres of it."""
    here = countries.country_at(point)
    if here is not None and here.code == code:
        return True
    return any(near is not None and near.code == code for near in _countries_around(point, tolerance_km, countries))


def _countries_around(point: LatLon, km: float, countries: Countries) -> list[Country | None]:
    ring = [destination(point, bearing_deg=bearing, distance_km=km) for bearing in range(0, 360, 45)]
    return [countries.country_at(near) for near in ring]


def _size_adjusted_distance_km(pair: tuple[Place, float]) -> float:
    """The distance to a town, shorter for a larger one."""
    town, away_km = pair
    return float((away_km + _W["town_near_km"]) / (town.population + _W["town_people"]) ** _W["town_size"])
