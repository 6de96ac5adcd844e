"""Clues and mentions become a belief: log-odds over countries, then over places, then the answer worth giving.

Countries start from a prior for photographs, and every clue adds its log-likelihood. A place gains by each name that
stands near it, more the rarer the name is elsewhere. The remaining probability of a country is spread over its towns.
The point is the one with the highest expected accuracy over 1, 25, 200 and 750 km, so an unsure belief gives the best
point of a country, and a vague belief gives no point.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tts.clues.clue import Clue, ClueKind
from tts.clues.mentions import Mention
from tts.clues.postal_addresses import ADDRESS
from tts.clues.priors import Floats, Priors, Towns
from tts.decision_weights import weights
from tts.domain.geo import TABLE_KM, LatLon, sphere_km_from_degrees
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer, Place

_W = weights("belief")
_FAME_SHARE = _W["fame"]
_DIVISION_SHARE = _W["division"]
_MAX_MENTION_RATIO = math.expm1(_W["mention_cap_nats"])
_KIND_CAP_FACTOR = _W["kind_cap"]
_MENTION_REACH_KM = _W["near_km"]
_REACH_KM = {"admin1": _W["admin1_km"], ADDRESS: _W["address_km"]}
_DISTANCE_PROBABILITY = _W["a_distance"]
_STRAIGHT_TO_ROAD = _W["crow"]
_STRAIGHT_TO_ROAD_SPREAD = _W["crow_spread"]
_SIGN_ROUNDING_KM = _W["sign_km"]
_STATED_POINT_KM = _W["stated_km"]
_STATED_NATS = _W["stated_nats"]
_STATED_FADE_KM = _W["stated_fade_km"]
_STREET_RATE = weights("misleading")["street"]
_STREET_RATE_IN_COUNTRY = weights("misleading")["street_in_country"]
_MAX_PLACES = 80
Regions = Mapping[str, Mapping[str, float]]
Mask = npt.NDArray[np.bool_]


class ExcludedArea(Protocol):
    """Where nothing of a belief may lie."""

    def covers(self, lat: Floats, lon: Floats, code: str, world: Weigher) -> Mask:
        """(n,) whether each point, in degrees and in the country `code`, is excluded."""
        ...


@dataclass(frozen=True, eq=False)
class Belief:
    """Shares add up to one over all countries. `mass(point, km)` is the belief that the photo was taken that near.
    The first `named` points are places that something points to; `rest` has by country what lies at no such place.
    """

    countries: dict[str, float]
    places: tuple[tuple[Place, float], ...]
    lat: Floats
    lon: Floats
    share: Floats
    named: int = 0
    rest: Mapping[str, float] = field(default_factory=dict)

    @property
    def country(self) -> tuple[str, float]:
        """The ISO code of the likeliest country, and its share."""
        return max(self.countries.items(), key=lambda item: (item[1], item[0]))

    def mass(self, point: LatLon, km: float) -> float:
        """The share of the belief, 0 to 1, at places nearer than `km` to the point."""
        return float(self.share[sphere_km_from_degrees(point, self.lat, self.lon) < km].sum())

    def radius_km(self, point: LatLon, share: float) -> float:
        """The radius around a point that holds this share of the belief."""
        away = sphere_km_from_degrees(point, self.lat, self.lon)
        order = np.argsort(away, kind="stable")
        at = int(np.searchsorted(np.cumsum(self.share[order]), share * self.share.sum()))
        return float(away[order[min(at, len(order) - 1)]])

    def draw(self, rng: random.Random, count: int) -> list[LatLon | None]:
        """`count` independent draws of the place where the photo was taken, each as likely as its share; None for one
        that falls into a country whose towns the belief does not list."""
        bounds = np.cumsum(self.share)
        at = np.searchsorted(bounds, [rng.random() for _ in range(count)], side="right")
        return [LatLon(lat=float(self.lat[i]), lon=float(self.lon[i])) if i < len(bounds) else None for i in at]

    def best_point(self) -> tuple[LatLon, float]:
        """The point of the highest expected accuracy, and that accuracy (mean over the thresholds)."""
        return self._best_point

    @cached_property
    def _best_point(self) -> tuple[LatLon, float]:
        top = np.argsort(-self.share, kind="stable")[:60]
        options = [LatLon(lat=float(self.lat[i]), lon=float(self.lon[i])) for i in top]
        worth = [self._expected_accuracy(point) for point in options]
        best = int(np.argmax(worth))
        return options[best], worth[best]

    def _expected_accuracy(self, point: LatLon) -> float:
        away = sphere_km_from_degrees(point, self.lat, self.lon)
        return sum(float(self.share[away < km].sum()) for km in TABLE_KM) / len(TABLE_KM)


class Weigher:
    """Weighs what was found against what is known before anything is read. One instance a process; thread-safe."""

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self.gazetteer = gazetteer
        self.countries = countries
        self.priors = Priors(gazetteer, countries)

    def weigh(
        self,
        clues: Iterable[Clue],
        mentions: Sequence[Mention],
        allowed: frozenset[str] | None = None,
        claimed: Sequence[Mention] = (),
        excluded: ExcludedArea | None = None,
    ) -> Belief:
        """The belief from everything that was found; `allowed` restricts it to some countries, and nothing of it lies
        where it is `excluded`. `claimed` are names in the caller's hint: they change the weight of places that
        `mentions` or `clues` indicate, and add no places."""
        clues = tuple(clues)
        included = self._included_towns(excluded)
        known = [code for code in self.priors.towns if code not in included or included[code].any()]
        codes = [code for code in known if allowed is None or code in allowed] or known
        plain = {code: self.priors.country[code] + value for code, value in _summed_weights(clues, codes).items()}
        regions = self._regions(clues)
        self._add_streets(plain, mentions)
        places, weights = self._places(mentions, clues, plain, regions, claimed, excluded)
        rest = np.array([plain[code] + self._log_share_included(code, included) for code in codes])
        top = max([float(rest.max()), *weights]) if len(weights) else float(rest.max())
        share_rest, share_places = np.exp(rest - top), np.exp(np.array(weights) - top)
        total = float(share_rest.sum() + share_places.sum())
        by_country = dict(zip(codes, (share_rest / total).tolist(), strict=True))
        for place, share in zip(places, share_places / total, strict=True):
            by_country[place.country_code] = by_country.get(place.country_code, 0.0) + float(share)
        ranked = sorted(zip(places, (share_places / total).tolist(), strict=True), key=lambda p: (-p[1], p[0].id))
        remaining = dict(zip(codes, (share_rest / total).tolist(), strict=True))
        return self._assemble_belief(by_country, remaining, ranked, regions, included)

    def _add_streets(self, plain: dict[str, float], mentions: Iterable[Mention]) -> None:
        """A street that is called after a town is in the town's country more often than in the town."""
        for mention in mentions:
            if mention.street:
                found = math.log1p(_STREET_RATE_IN_COUNTRY / mention.rate_elsewhere)
                for code in {m.place.country_code for m in mention.matches if m.place.kind != "country"} & set(plain):
                    plain[code] += found

    def _included_towns(self, excluded: ExcludedArea | None) -> dict[str, Mask]:
        """By country, which of its towns are not excluded; only where something is."""
        if excluded is None:
            return {}
        towns = self.priors.towns
        return {code: ~excluded.covers(found.lat, found.lon, code, self) for code, found in towns.items()}

    def _log_share_included(self, code: str, included: Mapping[str, Mask]) -> float:
        if code not in included:
            return 0.0
        share = self.priors.towns[code].share
        return math.log(float(share[included[code]].sum() / share.sum()))

    def _assemble_belief(
        self,
        by_country: dict[str, float],
        rest: dict[str, float],
        places: list[tuple[Place, float]],
        regions: Regions,
        included: Mapping[str, Mask],
    ) -> Belief:
        lat = [np.array([place.point.lat for place, _ in places], dtype=np.float64)]
        lon = [np.array([place.point.lon for place, _ in places], dtype=np.float64)]
        share = [np.array([part for _, part in places], dtype=np.float64)]
        for code in sorted(rest, key=lambda c: -rest[c])[:12]:
            towns = self.priors.towns[code]
            shares = towns.share * _region_factors(towns, regions.get(code)) * included.get(code, 1.0)
            lat.append(towns.lat)
            lon.append(towns.lon)
            share.append(rest[code] * shares / shares.sum())
        joined = [np.concatenate(parts) for parts in (lat, lon, share)]
        return Belief(by_country, tuple(places[:12]), joined[0], joined[1], joined[2], len(places), rest)

    def _regions(self, clues: Iterable[Clue]) -> Regions:
        """What the clues say about parts of countries, so that each country keeps its own share; nats."""
        found: dict[str, dict[str, float]] = {}
        for clue in clues:
            for code, values in clue.regions.items():
                towns = self.priors.towns[code]
                mean = float((towns.share * _region_factors(towns, values)).sum() / towns.share.sum())
                found[code] = {name: value - math.log(mean) for name, value in values.items()}
        return found

    def _places(
        self,
        mentions: Sequence[Mention],
        clues: Sequence[Clue],
        plain: dict[str, float],
        regions: Regions,
        claimed: Sequence[Mention],
        excluded: ExcludedArea | None,
    ) -> tuple[list[Place], list[float]]:
        """Places that some name or position points to, with their log-weights."""
        found: dict[str, Place] = {}
        for mention in mentions:
            for match in mention.matches:
                if match.place.country_code in plain and _may_mean_point(match.place, mention):
                    found.setdefault(match.place.id, match.place)
        stated = [clue for clue in clues if clue.point is not None]
        for clue in stated:
            assert clue.point is not None
            for place, _ in self.gazetteer.nearest(clue.point, limit=3, max_km=_W["stated_towns_km"]):
                if place.country_code in plain:
                    found.setdefault(place.id, place)
        places = [place for place in found.values() if not _is_excluded(place, excluded, self)]
        if not places:
            return [], []
        lat = np.array([place.point.lat for place in places])
        lon = np.array([place.point.lon for place in places])
        top = max(plain.values())
        countries = {code: math.exp(value - top) for code, value in plain.items()}
        languages, total = self.priors.language_shares(countries), sum(countries.values())
        abroad = np.array([1.0 - countries[place.country_code] / total for place in places])
        weights = np.array([plain[place.country_code] + self._log_share(place, regions) for place in places])
        for mention in (*mentions, *claimed):
            elsewhere = self.rate_elsewhere(mention, languages) + mention.abroad * abroad
            weights += _sign_likelihood(mention, elsewhere, places, lat, lon)
        for clue in stated:
            assert clue.point is not None
            away = sphere_km_from_degrees(clue.point, lat, lon)
            weights += np.where(away < clue.point_km + _STATED_POINT_KM, _STATED_NATS - away / _STATED_FADE_KM, 0.0)
        keep = np.argsort(-weights, kind="stable")[:_MAX_PLACES].tolist()
        return [places[i] for i in keep], [float(weights[i]) for i in keep]

    def _log_share(self, place: Place, regions: Regions) -> float:
        """Log-share of a place in the photos of its country."""
        share = self.priors.town_share(place) * (_DIVISION_SHARE if place.kind == "admin1" else 1.0)
        return math.log(share) + _region_value(regions.get(place.country_code), place.admin1)

    def rate_elsewhere(self, mention: Mention, languages: Mapping[str, float]) -> float:
        """How often a photo of another place shows this name: as a word, by chance, or because the place is known
        there."""
        plain = mention.rate_elsewhere_among(languages) + (_STREET_RATE if mention.street else 0.0)
        if mention.called_from_afar:
            return plain + mention.called_from_afar * max(self.priors.town_share(m.place) for m in mention.matches)
        if any(match.place.kind == ADDRESS for match in mention.matches):
            return plain
        shares = (
            self.priors.photo_share(match.place) for match in mention.matches if match.place.kind in ("city", "airport")
        )
        return plain + _FAME_SHARE * float(max(shares, default=_W["unknown_fame"]))


def _is_excluded(place: Place, excluded: ExcludedArea | None, weigher: Weigher) -> bool:
    if excluded is None:
        return False
    at = place.point
    return bool(excluded.covers(np.array([at.lat]), np.array([at.lon]), place.country_code, weigher)[0])


def _region_value(values: Mapping[str, float] | None, admin1: str) -> float:
    return 0.0 if values is None else values.get(admin1, values.get("", 0.0))


def _region_factors(towns: Towns, values: Mapping[str, float] | None) -> Floats:
    """How much likelier each town is by the part of its country that it lies in."""
    return np.exp(np.array([_region_value(values, admin1) for admin1 in towns.admin1])) if values else np.ones(1)


def _summed_weights(clues: Sequence[Clue], codes: Sequence[str]) -> dict[str, float]:
    """Log-likelihoods by country; clues of one kind that say the same count once, and a kind has a ceiling."""
    totals = dict.fromkeys(codes, 0.0)
    for kind in ClueKind:
        distinct: dict[tuple[tuple[str, float], ...], Clue] = {}
        for clue in clues:
            if clue.kind is kind:
                distinct.setdefault(tuple(sorted(clue.weights.items())), clue)
        if not distinct:
            continue
        ceiling = _KIND_CAP_FACTOR * max(abs(min([clue.other, *clue.weights.values()])) for clue in distinct.values())
        sums = {code: sum(clue.weight(code) for clue in distinct.values()) for code in codes}
        best = max(sums.values())
        for code in codes:
            totals[code] += max(-ceiling, sums[code] - best)
    return totals


def _sign_likelihood(mention: Mention, elsewhere: Floats, places: Sequence[Place], lat: Floats, lon: Floats) -> Floats:
    """How much more often than elsewhere this name stands on signs at each of the places; log-likelihood ratio."""
    near = np.zeros(len(places))
    for match in mention.matches:
        if match.place.kind == "country":
            inside = np.array([place.country_code == match.place.country_code for place in places])
            near = np.maximum(near, np.where(inside, _W["country_name"], 0.0))
            continue
        away = sphere_km_from_degrees(match.place.point, lat, lon)
        scale = _REACH_KM.get(match.place.kind, _MENTION_REACH_KM)
        close = np.exp(-away / scale) if mention.km is None else _distance_factors(away, mention.km)
        near = np.maximum(near, close * min(1.0, match.score ** _W["spelling_power"]))
    return np.asarray(np.log1p(near * np.minimum(_MAX_MENTION_RATIO, mention.rate / elsewhere)))


def _may_mean_point(place: Place, mention: Mention) -> bool:
    """Whether a name may mean this very point: no country, and no division that has a town of the same name."""
    within = (place.country_code, place.name)
    return place.kind != "country" and not (
        place.kind == "admin1"
        and any(m.place.kind == "city" and (m.place.country_code, m.place.admin1) == within for m in mention.matches)
    )


def _distance_factors(away: Floats, km: float) -> Floats:
    """How well places fit the distance on a signpost. Roads are longer than the geodesic, and some numbers are not
    distances."""
    fits = np.exp(-0.5 * ((away - _STRAIGHT_TO_ROAD * km) / (_STRAIGHT_TO_ROAD_SPREAD * km + _SIGN_ROUNDING_KM)) ** 2)
    return np.asarray(_DISTANCE_PROBABILITY * fits + (1.0 - _DISTANCE_PROBABILITY) * np.exp(-away / _MENTION_REACH_KM))
