"""Clues and mentions become a belief: log-odds over countries, then over places, then the answer worth giving.

Countries start from a prior for photographs, and every clue adds its log-likelihood. A place gains by each name that
stands near it, more the rarer the name is elsewhere. What remains of a country is spread over its towns. The point is
the one with the highest expected accuracy over 1, 25, 200 and 750 km, so an unsure belief answers with a country's
best point and a vague one with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tts.clues.clue import Clue, ClueKind
from tts.clues.mentions import Mention
from tts.clues.tables import tables
from tts.domain.geo import LatLon
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer, Place

_THRESHOLDS_KM = (1.0, 25.0, 200.0, 750.0)
_BY_POPULATION = 0.4  # per mille of the photos, for a country of a million; grows with the root of the population
_FAME = 0.08  # how often a photo elsewhere names a town, in shares of the photos taken there
_TOWN_POWER = 0.9  # photos are taken where people are, a little more evenly
_CAPITAL = 2.0
_NEAR_KM, _REGION_KM = 30.0, 150.0
_A_DISTANCE = 0.75  # chance that a number beside a name is the distance to it
_CROW, _CROW_SPREAD, _SIGN_KM = 0.85, 0.15, 3.0
_DIVISION = 0.2  # of a division's photos are nearer to its centre than to any of its towns
_NEIGHBOURS = 3.0  # names of the towns around count too
_MENTION_CAP = 7.0
_PLACES = 80
_TOWNS = 120  # that stand for the rest of a country
_KIND_CAP = 1.5
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Belief:
    """Shares add up to one over all countries. `mass(point, km)` is the belief that the photo was taken that near."""

    countries: dict[str, float]
    places: tuple[tuple[Place, float], ...]
    lat: Floats
    lon: Floats
    share: Floats

    @property
    def country(self) -> tuple[str, float]:
        return max(self.countries.items(), key=lambda item: (item[1], item[0]))

    def mass(self, point: LatLon, km: float) -> float:
        return float(self.share[_km(point, self.lat, self.lon) < km].sum())

    def radius_km(self, point: LatLon, share: float) -> float:
        """The radius around a point that holds this share of the belief."""
        away = _km(point, self.lat, self.lon)
        order = np.argsort(away, kind="stable")
        at = int(np.searchsorted(np.cumsum(self.share[order]), share * self.share.sum()))
        return float(away[order[min(at, len(order) - 1)]])

    def best_point(self) -> tuple[LatLon, float]:
        """The point of the highest expected accuracy, and that accuracy (mean over the thresholds)."""
        top = np.argsort(-self.share, kind="stable")[:60]
        options = [LatLon(lat=float(self.lat[i]), lon=float(self.lon[i])) for i in top]
        worth = [sum(self.mass(point, km) for km in _THRESHOLDS_KM) / len(_THRESHOLDS_KM) for point in options]
        best = int(np.argmax(worth))
        return options[best], worth[best]


class Weigher:
    """Holds what all beliefs share: priors and towns of every country. One instance a process; thread-safe."""

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self._gazetteer, self._countries = gazetteer, countries

    def weigh(
        self, clues: Iterable[Clue], mentions: Sequence[Mention], allowed: frozenset[str] | None = None
    ) -> Belief:
        """The belief from everything that was found; `allowed` restricts it to some countries."""
        clues = tuple(clues)
        codes = [code for code in self._towns if allowed is None or code in allowed] or list(self._towns)
        plain = {code: self._prior[code] + value for code, value in _summed(clues, codes).items()}
        places, weights = self._places(mentions, clues, plain)
        rest = np.array([plain[code] for code in codes])
        top = max([float(rest.max()), *weights]) if len(weights) else float(rest.max())
        share_rest, share_places = np.exp(rest - top), np.exp(np.array(weights) - top)
        total = float(share_rest.sum() + share_places.sum())
        by_country = dict(zip(codes, (share_rest / total).tolist(), strict=True))
        for place, share in zip(places, share_places / total, strict=True):
            by_country[place.country_code] = by_country.get(place.country_code, 0.0) + float(share)
        ranked = sorted(zip(places, (share_places / total).tolist(), strict=True), key=lambda p: (-p[1], p[0].id))
        return self._spread(by_country, dict(zip(codes, (share_rest / total).tolist(), strict=True)), ranked)

    def _spread(
        self, by_country: dict[str, float], rest: dict[str, float], places: list[tuple[Place, float]]
    ) -> Belief:
        lat = [np.array([place.point.lat for place, _ in places], dtype=np.float64)]
        lon = [np.array([place.point.lon for place, _ in places], dtype=np.float64)]
        share = [np.array([part for _, part in places], dtype=np.float64)]
        for code in sorted(rest, key=lambda c: -rest[c])[:12]:
            towns = self._towns[code]
            lat.append(towns.lat[:_TOWNS])
            lon.append(towns.lon[:_TOWNS])
            share.append(rest[code] * towns.share[:_TOWNS] / towns.share[:_TOWNS].sum())
        joined = [np.concatenate(parts) for parts in (lat, lon, share)]
        return Belief(by_country, tuple(places[:12]), joined[0], joined[1], joined[2])

    def _places(
        self, mentions: Sequence[Mention], clues: Sequence[Clue], plain: dict[str, float]
    ) -> tuple[list[Place], list[float]]:
        """Places that some name or position points to, with their log-weights."""
        found: dict[str, Place] = {}
        for mention in mentions:
            for match in mention.matches:
                if match.place.kind != "country" and match.place.country_code in plain:
                    found.setdefault(match.place.id, match.place)
        stated = [clue for clue in clues if clue.point is not None]
        for clue in stated:
            for place, _ in self._gazetteer.nearest(clue.point, limit=3, max_km=60.0) if clue.point else ():
                if place.country_code in plain:
                    found.setdefault(place.id, place)
        places = list(found.values())
        if not places:
            return [], []
        lat = np.array([place.point.lat for place in places])
        lon = np.array([place.point.lon for place in places])
        shares = [self._town_share(place) * (_DIVISION if place.kind == "admin1" else 1.0) for place in places]
        weights = np.array([plain[p.country_code] + math.log(s) for p, s in zip(places, shares, strict=True)])
        for mention in mentions:
            weights += self._told(mention, places, lat, lon)
        for clue in stated:
            assert clue.point is not None
            away = _km(clue.point, lat, lon)
            weights += np.where(away < clue.point_km + 25.0, 9.0 - away / 20.0, 0.0)
        keep = np.argsort(-weights, kind="stable")[:_PLACES].tolist()
        return [places[i] for i in keep], [float(weights[i]) for i in keep]

    def _told(self, mention: Mention, places: Sequence[Place], lat: Floats, lon: Floats) -> Floats:
        """How much more often than elsewhere this name stands on signs at each of the places; log-likelihood ratio."""
        near = np.zeros(len(places))
        for match in mention.matches:
            if match.place.kind == "country":
                inside = np.array([place.country_code == match.place.country_code for place in places])
                near = np.maximum(near, np.where(inside, 0.5, 0.0))
                continue
            away = _km(match.place.point, lat, lon)
            scale = _REGION_KM if match.place.kind == "admin1" else _NEAR_KM
            close = np.exp(-away / scale) if mention.km is None else _at_distance(away, mention.km)
            near = np.maximum(near, close * min(1.0, match.score**4))
        return np.minimum(_MENTION_CAP + 4.0, np.log1p(near * mention.rate / self.base(mention)))

    def country_weight(self, mention: Mention) -> dict[str, float]:
        """What a name says about countries, for explanations: log-likelihood ratios of those that have such a place."""
        rates: dict[str, float] = {}
        base = self.base(mention)
        for match in mention.matches:
            share = 0.5 if match.place.kind == "country" else _NEIGHBOURS * self._town_share(match.place)
            rates[match.place.country_code] = rates.get(match.place.country_code, 0.0) + share * mention.rate
        return {code: min(_MENTION_CAP, math.log1p(rate / base)) for code, rate in rates.items()}

    def _town_share(self, place: Place) -> float:
        """The share of a country's photos that a place has by its population."""
        towns, country = self._towns.get(place.country_code), self._countries.get(place.country_code)
        if towns is None or country is None:
            return 1e-4
        lift = _CAPITAL if place.name == country.capital else 1.0
        return min(1.0, lift * math.pow(place.population + 500.0, _TOWN_POWER) / towns.total)

    @cached_property
    def _prior(self) -> dict[str, float]:
        prior = {}
        for code in self._towns:
            country = self._countries.get(code)
            people = country.population if country else 0
            share = tables().photo_shares.get(code, 0.0) + _BY_POPULATION * math.sqrt(people / 1e6) + 0.01
            prior[code] = math.log(share)
        top = max(prior.values())
        return {code: value - top for code, value in prior.items()}

    @cached_property
    def _photo_share(self) -> dict[str, float]:
        total = sum(math.exp(value) for value in self._prior.values())
        return {code: math.exp(value) / total for code, value in self._prior.items()}

    def base(self, mention: Mention) -> float:
        """How often a photo elsewhere carries a name: by chance, or because the place is known there."""
        shares = (
            self._photo_share.get(m.place.country_code, 0.0) * self._town_share(m.place)
            for m in mention.matches
            if m.place.kind == "city"
        )
        return mention.base + _FAME * float(max(shares, default=0.05))

    @cached_property
    def _towns(self) -> dict[str, _Towns]:
        """Towns of every country, largest first, with their shares of its photos."""
        code_of, kind, population = self._gazetteer.columns()
        lat, lon = (np.asarray(column, dtype=np.float64) for column in self._gazetteer.positions())
        codes = self._gazetteer.country_codes
        weight = (population.astype(np.float64) + 500.0) ** _TOWN_POWER
        found = {}
        cities = np.flatnonzero(kind == 0)
        order = cities[np.argsort(code_of[cities], kind="stable")]
        for number in np.unique(code_of[order]):
            rows = order[np.searchsorted(code_of[order], number) : np.searchsorted(code_of[order], number, "right")]
            country = self._countries.get(codes[number])
            if country is not None:
                top = rows[np.argsort(-weight[rows], kind="stable")][:_TOWNS]
                for row in top[:30]:
                    if self._gazetteer.place(int(row)).name == country.capital:
                        weight[row] *= _CAPITAL
                        break
                total = float(weight[rows].sum())
                found[country.code] = _Towns(lat[top], lon[top], weight[top] / total, total)
        return found


@dataclass(frozen=True, slots=True)
class _Towns:
    lat: Floats
    lon: Floats
    share: Floats
    total: float


def _summed(clues: Sequence[Clue], codes: Sequence[str]) -> dict[str, float]:
    """Log-likelihoods by country; clues of one kind that say the same count once, and a kind has a ceiling."""
    totals = dict.fromkeys(codes, 0.0)
    for kind in ClueKind:
        distinct: dict[tuple[tuple[str, float], ...], Clue] = {}
        for clue in clues:
            if clue.kind is kind:
                distinct.setdefault(tuple(sorted(clue.weights.items())), clue)
        if not distinct:
            continue
        ceiling = _KIND_CAP * max(abs(min([clue.other, *clue.weights.values()])) for clue in distinct.values())
        sums = {code: sum(clue.weight(code) for clue in distinct.values()) for code in codes}
        best = max(sums.values())
        for code in codes:
            totals[code] += max(-ceiling, sums[code] - best)
    return totals


def _at_distance(away: Floats, km: float) -> Floats:
    """How well places fit a signpost's distance: roads are longer than the way the crow flies, and some numbers are
    no distances."""
    fits = np.exp(-0.5 * ((away - _CROW * km) / (_CROW_SPREAD * km + _SIGN_KM)) ** 2)
    return np.asarray(_A_DISTANCE * fits + (1.0 - _A_DISTANCE) * np.exp(-away / _NEAR_KM))


def _km(point: LatLon, lat: Floats, lon: Floats) -> Floats:
    """Great-circle distances in km on a sphere."""
    phi0, phi = math.radians(point.lat), np.radians(lat)
    half = np.sin((phi - phi0) / 2) ** 2 + math.cos(phi0) * np.cos(phi) * np.sin(np.radians(lon - point.lon) / 2) ** 2
    return np.asarray(2 * 6371.0088 * np.arcsin(np.sqrt(np.minimum(1.0, half))))
