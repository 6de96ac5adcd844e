"""Priors: where photos are taken, and which languages are on the signs of each country."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tts.clues.clue_tables import tables
from tts.clues.line_languages import spoken_shares
from tts.decision_weights import weights
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer, Place

_W = weights("belief")
_POPULATION_WEIGHT = _W["by_population"]
_POPULATION_EXPONENT = _W["town_power"]
_CAPITAL_FACTOR = _W["capital"]
_ADDED_POPULATION = _W["more_people"]
_AIRPORT_SHARE = _W["airport"]
_AIRPORT_DEG = _W["airport_deg"]
_MAX_TOWNS = int(_W["towns"])
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Towns:
    """The largest towns of a country: (n,) degrees, shares of all its photos and divisions (empty names where no clue
    asks for them); `total` is the unit of the shares."""

    lat: Floats
    lon: Floats
    share: Floats
    admin1: tuple[str, ...]
    total: float


class Priors:
    """Shares of photos by country and town. Everything is worked out once, when it is first asked for."""

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self._gazetteer = gazetteer
        self._countries = countries

    @cached_property
    def country(self) -> dict[str, float]:
        """Log-shares of photos by country, 0 for the most photographed one."""
        prior = {}
        for code in self.towns:
            country = self._countries.get(code)
            people = country.population if country else 0
            share = (
                tables().photo_shares.get(code, 0.0) + _POPULATION_WEIGHT * math.sqrt(people / 1e6) + _W["least_share"]
            )
            prior[code] = math.log(share)
        top = max(prior.values())
        return {code: value - top for code, value in prior.items()}

    @cached_property
    def _photo_share(self) -> dict[str, float]:
        total = sum(math.exp(value) for value in self.country.values())
        return {code: math.exp(value) / total for code, value in self.country.items()}

    def country_share(self, code: str) -> float:
        """The share of all photos that are taken in a country, in [0, 1]."""
        return self._photo_share.get(code, 0.0)

    @cached_property
    def all_towns(self) -> tuple[Floats, Floats, Floats]:
        """(n,) latitudes and longitudes of the towns of all countries, and their shares of all photos."""
        towns = list(self.towns.items())
        share = [self.country_share(code) * found.share for code, found in towns]
        lat, lon = [found.lat for _, found in towns], [found.lon for _, found in towns]
        return np.concatenate(lat), np.concatenate(lon), np.concatenate(share)

    def photo_share(self, place: Place) -> float:
        """The share of all photos that are taken at a place."""
        return self._photo_share.get(place.country_code, 0.0) * self.town_share(place)

    def town_share(self, place: Place) -> float:
        """The share of a country's photos that a place has by its population."""
        towns, country = self.towns.get(place.country_code), self._countries.get(place.country_code)
        if towns is None or country is None:
            return _W["unlisted_town"]
        lift, people = _CAPITAL_FACTOR if place.name == country.capital else 1.0, place.population
        if place.kind == "airport":
            lift, people = _AIRPORT_SHARE, self._population_served_by(place)
        return min(1.0, lift * math.pow(people + _ADDED_POPULATION, _POPULATION_EXPONENT) / towns.total)

    def _population_served_by(self, airport: Place) -> int:
        """People in the largest town around an airport."""
        lat, lon = airport.point.lat, airport.point.lon
        wide = _AIRPORT_DEG / max(0.1, math.cos(math.radians(lat)))
        area = (lat - _AIRPORT_DEG, lon - wide, lat + _AIRPORT_DEG, lon + wide)
        return max(
            (town.population for town in self._gazetteer.places_inside(*area, kinds=("city",), limit=1)), default=0
        )

    def language_shares(self, countries: Mapping[str, float]) -> dict[str, float]:
        """Shares of languages on signs, from shares of countries in any unit."""
        total = sum(countries.values())
        shares: dict[str, float] = {}
        for code, share in countries.items():
            for tag, part in self.languages_by_country.get(code, {}).items():
                shares[tag] = shares.get(tag, 0.0) + share * part / total
        return shares

    @cached_property
    def photo_share_by_language(self) -> dict[str, float]:
        """By language, the share of all photos that are taken among its speakers."""
        return self.language_shares(self._photo_share)

    @cached_property
    def languages_by_country(self) -> dict[str, dict[str, float]]:
        """Shares of languages on the signs of each country."""
        facts = (self._countries.get(code) for code in self._countries.codes)
        return {country.code: spoken_shares(country) for country in facts if country is not None}

    @cached_property
    def towns(self) -> dict[str, Towns]:
        """Towns of every country, largest first, with their shares of its photos."""
        code_of, kind, population = self._gazetteer.columns()
        lat, lon = (np.asarray(column, dtype=np.float64) for column in self._gazetteer.positions())
        codes = self._gazetteer.country_codes
        weight = (population.astype(np.float64) + _ADDED_POPULATION) ** _POPULATION_EXPONENT
        found = {}
        cities = np.flatnonzero(kind == 0)
        order = cities[np.argsort(code_of[cities], kind="stable")]
        for number in np.unique(code_of[order]):
            rows = order[np.searchsorted(code_of[order], number) : np.searchsorted(code_of[order], number, "right")]
            code = codes[number]
            country = self._countries.get(code)
            if country is not None:
                top = rows[np.argsort(-weight[rows], kind="stable")][:_MAX_TOWNS]
                for row in top[:30]:
                    if self._gazetteer.place(int(row)).name == country.capital:
                        weight[row] *= _CAPITAL_FACTOR
                        break
                total = float(weight[rows].sum())
                found[country.code] = Towns(lat[top], lon[top], weight[top] / total, self._divisions(code, top), total)
        return found

    def _divisions(self, code: str, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
        regional = code in tables().regional
        return tuple(self._gazetteer.place(int(row)).admin1 if regional else "" for row in rows)
