"""The unit that a point lies in: its centre, its radius and its names, down to the finest level that is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tts.domain.geo import LatLon
from tts.geodata.countries import Countries, Country
from tts.geodata.extent import town_km
from tts.geodata.gazetteer import Gazetteer, Place

Precision = Literal["city", "region", "country"]
FINEST_KM = {"city": 3.01, "region": 40.01, "country": 200.01}  # above the limits of the next finer level
_MAX_TOWN_KM = 60.0
_MIN_TOWN_PEOPLE = 15_000
_MAX_TOWNS = 400
_MAX_DIVISION_TOWN_KM = 300.0


@dataclass(frozen=True, slots=True)
class Unit:
    """A city, region or country. `reach_km` is the radius of the circle around its centre that holds most of it."""

    centre: LatLon
    reach_km: float
    country: str
    country_code: str
    region: str = ""
    city: str = ""


class Units:
    """Looks units up in the gazetteer."""

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self._gazetteer = gazetteer
        self._countries = countries

    def unit_at(self, point: LatLon, precision: Precision) -> Unit | None:
        """The unit of a point; a wider one where no town is near, None at sea far from any town."""
        town = self._gazetteer.nearest_town(point, max_km=_MAX_TOWN_KM)
        if precision == "city" and town is not None:
            town = self._whole_town(point, town)
            return self._make_unit(town, town_km(town), region=town.admin1, city=town.name)
        town = town or self._gazetteer.nearest_town(point, max_km=_MAX_DIVISION_TOWN_KM)
        if precision != "country" and town is not None and town.admin1 and (region := self._region(town)) is not None:
            return region
        country = self._countries.country_at(point) or (
            None if town is None else self._countries.get(town.country_code)
        )
        return None if country is None else self._country(country)

    def _whole_town(self, point: LatLon, nearest: Place) -> Place:
        """The largest town of the country whose disc holds the point: the gazetteer also has quarters of towns."""
        around = self._gazetteer.nearest(point, limit=_MAX_TOWNS, max_km=_MAX_TOWN_KM, min_population=_MIN_TOWN_PEOPLE)
        holding = [town for town, km in around if km <= town_km(town) and town.country_code == nearest.country_code]
        return max((nearest, *holding), key=lambda town: town.population)

    def _region(self, town: Place) -> Unit | None:
        found = self._gazetteer.search(town.admin1, kinds=("admin1",), countries=(town.country_code,), fuzzy=False)
        own = [match.place for match in found if town.admin1 in (match.place.admin1, match.place.name)]
        if not own:
            return None
        reach = self._gazetteer.division_of(town).reach_km(own[0].point, 0.9)
        return self._make_unit(own[0], max(FINEST_KM["region"], reach), region=town.admin1)

    def _country(self, country: Country) -> Unit | None:
        found = self._gazetteer.search(country.name, kinds=("country",), limit=1, fuzzy=False)
        if not found:
            return None
        reach = max(FINEST_KM["country"], math.sqrt(max(1.0, country.area_km2) / math.pi))
        return self._make_unit(found[0].place, reach)

    def _make_unit(self, place: Place, reach_km: float, *, region: str = "", city: str = "") -> Unit:
        code = place.country_code
        return Unit(place.point, reach_km, self._countries.name(code), code, region, city)
