"""The embedded gazetteer: 240,000 places and a million names in every script, memory-mapped.

Layout (built by `tts.geodata.build`, read-only here):

* places: parallel arrays `lat, lon, population, country, admin1, kind`, sorted by falling importance, so that a
  smaller place number is the more important place;
* names: normalised spellings in a blob, sorted by length and then text, so that a misspelt query only has to look at
  names within two characters of its own length, which are one slice;
* `name_places`: which places bear a name, and whether it is their primary name;
* `grams`: trigram → names (compressed sparse rows), for misspelt names;
* `lexical`: the names in text order, for exact and prefix look-ups;
* `cells`: one-degree cells → places, for reverse geocoding.

There are no streets, stations, museums or shops in it, and a query for one finds nothing rather than a namesake town:
only whole names match, never parts of a query.
"""

from __future__ import annotations

import bisect
import json
import math
import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from tts.domain.geo import SHORTEST_DEGREE_KM, LatLon, arc_km, distance_km, unit_vector, unit_vectors
from tts.errors import DataError
from tts.geodata.names import place_key, trigrams
from tts.geodata.nearby_towns import NearbyTowns

KINDS = ("city", "admin1", "country", "airport")
_MAX_EDITS = 2
_MAX_RESCORED = 256
_MAX_GRAMS_READ = 150_000
_MAX_SWAPPED_LETTERS = 7
_MAX_NAMESAKES = 24

Ints = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Place:
    """One place. `id` is stable across builds (`gn:` GeoNames, `iso:` country, `a1:` division, `iata:` airport)."""

    id: str
    name: str
    kind: str
    point: LatLon
    country_code: str
    admin1: str
    population: int


@dataclass(frozen=True, slots=True)
class Match:
    """A place found by name: `score` 1 is an exact primary name; misspelling and alternate names lower it."""

    place: Place
    score: float
    matched: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Division:
    """The towns of a first-order division: (n, 3) unit vectors, and how many people they have together."""

    vectors: npt.NDArray[np.float64]
    population: int

    def reach_km(self, point: LatLon, share: float) -> float:
        """Kilometres from a point within which a share of the towns lie."""
        at = share * (len(self.vectors) - 1)
        low, high = math.floor(at), math.ceil(at)
        cosines = np.partition(-(self.vectors @ unit_vector(point)), (low, high))
        return float((high - at or 1.0) * arc_km(-cosines[low]) + (at - low) * arc_km(-cosines[high]))


class Gazetteer:
    """Look-ups by name, prefix and position. Opening it maps files (a few ms); pages load as they are used."""

    def __init__(self, folder: Path) -> None:
        try:
            self._meta = json.loads((folder / "meta.json").read_text())
            self._arrays = {
                path.stem: np.asarray(np.load(path, mmap_mode="r")) for path in sorted(folder.glob("*.npy"))
            }
            self._blob = _map_file(folder / "names.blob")
            self._labels = _map_file(folder / "labels.blob")
            self._country_codes: list[str] = self._meta["countries"]
            self._admin1_names: list[str] = self._meta["admin1"]
            self._nearby_towns = NearbyTowns(self._arrays)
            self._namesakes = lru_cache(maxsize=4096)(self._read_namesakes)
            self._division = lru_cache(maxsize=4096)(self._read_division)
            self.place = lru_cache(maxsize=16_384)(self._read_place)
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"the gazetteer is not readable ({error}): run `geotts data build`") from error

    def __len__(self) -> int:
        return len(self._arrays["lat"])

    @property
    def version(self) -> str:
        """Versions of the file format and of the packages that the gazetteer was built from, in one string."""
        return str(self._meta["version"])

    def search(
        self,
        query: str,
        *,
        countries: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        limit: int = 5,
        fuzzy: bool = True,
        min_score: float = 0.7,
    ) -> list[Match]:
        """Places whose whole name is `query`, misspelt by at most two edits; best first, ties by importance.

        `countries` (ISO codes) and `kinds` restrict before ranking, so a rare name inside a country is found.
        """
        wanted = place_key(query)
        if not wanted:
            return []
        keep = self._place_mask(countries, kinds)
        exact = self._name_id(wanted)
        found: dict[int, Match] = {}
        if exact is not None:
            self._collect_matches(found, exact, 1.0, keep, limit)
        if fuzzy and len(wanted) >= 4 and len(found) < limit:
            for name_id, similarity in self._similar_names(wanted):
                self._collect_matches(found, name_id, similarity, keep, limit)
        ranked = sorted(found.items(), key=lambda item: (-round(item[1].score, 3), item[0]))
        return [match for _, match in ranked if match.score >= min_score][:limit]

    def suggest(self, prefix: str, *, countries: Iterable[str] | None = None, limit: int = 10) -> list[Match]:
        """Places with a name that starts with `prefix`, most important first."""
        wanted = place_key(prefix)
        if not wanted:
            return []
        keep = self._place_mask(countries, None)
        low, high = self._prefix_range(wanted)
        best: dict[int, tuple[int, bool]] = {}
        for name_id in self._names_of_range(low, high):
            for place, primary in self._places_with_name(int(name_id)):
                if place not in best and (keep is None or keep[place]):
                    best[place] = (int(name_id), primary)
        chosen = sorted(best)[:limit]
        return [Match(self.place(p), 1.0 if best[p][1] else 0.9, self._name(best[p][0]), best[p][1]) for p in chosen]

    def nearest_named(self, name: str, point: LatLon, *, within_km: float) -> tuple[Place, float] | None:
        """The nearest important place with this name (countries excluded), and its geodesic distance in km."""
        latitudes, namesakes = self._namesakes(name)
        reach = within_km / SHORTEST_DEGREE_KM  # of latitude: most namesakes lie on another one
        south, north = (
            bisect.bisect_left(latitudes, point.lat - reach),
            bisect.bisect_right(latitudes, point.lat + reach),
        )
        away = ((distance_km(place.point, point), rank, place) for rank, place in namesakes[south:north])
        nearest = min(away, key=itemgetter(0, 1), default=None)
        return None if nearest is None or nearest[0] > within_km else (nearest[2], nearest[0])

    def _read_namesakes(self, name: str) -> tuple[list[float], list[tuple[int, Place]]]:
        """Latitudes, and the ranked places of `nearest_named` from south to north: rollouts of a photo name few."""
        found = enumerate(match.place for match in self.search(name, limit=_MAX_NAMESAKES, fuzzy=False))
        ranked = [(rank, place) for rank, place in found if place.kind != "country"]
        ranked.sort(key=lambda pair: pair[1].point.lat)
        return [place.point.lat for _, place in ranked], ranked

    def get(self, place_id: str) -> Place | None:
        """The place with this id (`Place.id`), or None. The first call reads the ids of all places."""
        number = self._numbers_by_id.get(place_id)
        return None if number is None else self.place(number)

    def nearest(
        self, point: LatLon, *, limit: int = 1, max_km: float = 300.0, min_population: int = 0
    ) -> list[tuple[Place, float]]:
        """Cities around a point with their distance in km (sphere), nearest first."""
        numbers, km = self._nearby_towns.towns(point, limit=limit, max_km=max_km, min_population=min_population)
        return [(self.place(int(number)), float(far)) for number, far in zip(numbers, km, strict=True)]

    def nearest_town(self, point: LatLon, *, max_km: float) -> Place | None:
        """The city nearest to a point; faster than `nearest`."""
        number = self._nearby_towns.town(point, max_km=max_km)
        return None if number is None else self.place(number)

    def people_near(self, point: LatLon, *, max_km: float, towns: int) -> int:
        """People in the `towns` nearest towns within `max_km` km."""
        return self._nearby_towns.people(point, limit=towns, max_km=max_km)

    def places_inside(
        self, south: float, west: float, north: float, east: float, *, kinds: Iterable[str] | None = None, limit: int
    ) -> list[Place]:
        """Places in a rectangle, the most important first. `west` to `east` may cross the antimeridian."""
        lat, lon = self.positions()
        found = np.flatnonzero((lat >= south) & (lat <= north))
        found = found[(lon[found] - west) % 360.0 <= east - west]
        if kinds is not None:
            found = found[np.isin(self._arrays["kind"][found], [KINDS.index(kind) for kind in kinds])]
        return [self.place(int(number)) for number in found[:limit]]

    def division_of(self, place: Place) -> Division:
        """The towns of a place's first-order division, itself among them."""
        return self._division(place.country_code, place.admin1)

    def positions(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Latitudes and longitudes of all places, in degrees, in order of importance."""
        return self._arrays["lat"], self._arrays["lon"]

    def columns(self) -> tuple[Ints, Ints, Ints]:
        """Country numbers (into `country_codes`), kinds (into `KINDS`) and populations, in order of importance."""
        return self._arrays["country"], self._arrays["kind"], self._arrays["population"]

    @property
    def country_codes(self) -> tuple[str, ...]:
        """ISO 3166-1 alpha-2 codes, sorted; the country numbers of `columns` are positions in it."""
        return tuple(self._country_codes)

    def _read_division(self, country_code: str, admin1: str) -> Division:
        a = self._arrays
        country, names = self._country_codes.index(country_code), self._admin1_names
        towns = np.flatnonzero((a["country"] == country) & (a["kind"] == 0))
        numbers = np.array([i for i, name in enumerate(names) if name == admin1])
        towns = towns[np.isin(a["admin1"][towns], numbers)]
        lat, lon = a["lat"][towns].astype(np.float64), a["lon"][towns].astype(np.float64)
        return Division(unit_vectors(lat, lon), int(a["population"][towns].sum()))

    def _place_mask(self, countries: Iterable[str] | None, kinds: Iterable[str] | None) -> npt.NDArray[np.bool_] | None:
        if countries is None and kinds is None:
            return None
        keep = np.ones(len(self), dtype=bool)
        if countries is not None:
            codes = {c.upper() for c in countries}
            keep &= np.isin(self._arrays["country"], [i for i, c in enumerate(self._country_codes) if c in codes])
        if kinds is not None:
            wanted = set(kinds)
            keep &= np.isin(self._arrays["kind"], [i for i, k in enumerate(KINDS) if k in wanted])
        return keep

    def _collect_matches(
        self, found: dict[int, Match], name_id: int, similarity: float, keep: npt.NDArray[np.bool_] | None, limit: int
    ) -> None:
        taken = 0
        for place, primary in self._places_with_name(name_id):
            if keep is not None and not keep[place]:
                continue
            score = similarity * (1.0 if primary else 0.93)
            if place not in found or found[place].score < score:
                found[place] = Match(self.place(place), score, self._name(name_id), primary)
            taken += 1
            if taken >= max(limit, 8):
                return

    def _places_with_name(self, name_id: int) -> list[tuple[int, bool]]:
        start, end = self._arrays["name_start"][name_id], self._arrays["name_start"][name_id + 1]
        return [(int(code) >> 1, bool(code & 1)) for code in self._arrays["name_places"][start:end]]

    def _name(self, name_id: int) -> str:
        return self._spelling(name_id).decode()

    def _spelling(self, name_id: int) -> bytes:
        offset = self._arrays["name_offset"]
        return self._blob[offset[name_id] : offset[name_id + 1]]

    def _name_id(self, wanted: str) -> int | None:
        lexical = self._arrays["lexical"]
        at = bisect.bisect_left(lexical, wanted.encode(), key=self._spelling)
        if at < len(lexical) and self._name(lexical[at]) == wanted:
            return int(lexical[at])
        return None

    def _prefix_range(self, wanted: str) -> tuple[int, int]:
        lexical, key = self._arrays["lexical"], wanted.encode()
        low = bisect.bisect_left(lexical, key, key=self._spelling)
        return low, bisect.bisect_left(lexical, key + b"\xff", low, key=self._spelling)

    def _names_of_range(self, low: int, high: int) -> Ints:
        """Names of a prefix range: all of a small one, the most important of a large one."""
        names = self._arrays["lexical"][low:high]
        if len(names) <= 512:
            return np.asarray(names)
        first = self._arrays["name_best"][names]
        return np.asarray(names[np.argpartition(first, 256)[:256]])

    def _similar_names(self, wanted: str) -> list[tuple[int, float]]:
        """Names within two edits (one for short names), as (name number, similarity in 0..1)."""
        edits = 1 if len(wanted) <= 5 else _MAX_EDITS
        near = self._names_with_trigrams(wanted, edits)
        offset = self._arrays["name_offset"]
        spans = zip(offset[near].tolist(), offset[near + 1].tolist(), strict=True)
        names = [self._blob[start:end].decode() for start, end in spans]
        distances = cdist([wanted], names, scorer=OSA.distance, score_cutoff=edits, dtype=np.uint8)[0]
        close = {int(near[i]): int(distances[i]) for i in np.flatnonzero((distances > 0) & (distances <= edits))}
        for swapped in _swapped_spellings(wanted):  # a swap changes four trigrams: a short name has no other
            name_id = self._name_id(swapped)
            if name_id is not None:
                close[name_id] = 1
        return [(name_id, 1.0 - distance / (len(wanted) + 1.0)) for name_id, distance in close.items()]

    def _names_with_trigrams(self, wanted: str, edits: int) -> Ints:
        """Names of similar length that share the most trigrams with a query; if there are many, the important ones."""
        low, high = self._length_range(len(wanted), edits)
        rows = []
        for gram in trigrams(wanted):
            key = gram_key(gram)
            at = int(np.searchsorted(self._arrays["gram_keys"], key))
            if at < len(self._arrays["gram_keys"]) and self._arrays["gram_keys"][at] == key:
                row = self._arrays["gram_names"][self._arrays["gram_start"][at] : self._arrays["gram_start"][at + 1]]
                rows.append(row[np.searchsorted(row, low) : np.searchsorted(row, high)])
        if not rows:
            return np.empty(0, dtype=np.int64)
        rows.sort(key=len)
        need = max(1, len(wanted) - 4 * edits)
        kept, total = [], 0
        for i, row in enumerate(rows):
            if total > _MAX_GRAMS_READ and i >= len(rows) - need:
                break
            kept.append(row)
            total += len(row)
        counts = np.zeros(high - low, dtype=np.uint8)
        for row in kept:
            counts[row - low] += 1  # a name is in a row once
        need = max(1, need - (len(rows) - len(kept)))
        while np.count_nonzero(counts > need) >= _MAX_RESCORED:
            need += 1
        hits = np.flatnonzero(counts >= need)
        if len(hits) > _MAX_RESCORED:
            weight = counts[hits].astype(np.float64) - self._arrays["name_best"][hits + low] / len(self)
            hits = hits[np.argpartition(-weight, _MAX_RESCORED)[:_MAX_RESCORED]]
        return np.asarray(hits + low)

    def _length_range(self, length: int, edits: int) -> tuple[int, int]:
        starts = self._arrays["length_start"]
        last = len(starts) - 1
        low, high = max(0, length - edits), min(last, length + edits + 1)
        return int(starts[min(low, last)]), int(starts[high])

    def _read_place(self, number: int) -> Place:
        """The place at a position in the order of importance."""
        a = self._arrays
        offset = a["label_offset"]
        label_id, label = self._labels[offset[number] : offset[number + 1]].decode().split("\t", 1)
        return Place(
            id=label_id,
            name=label,
            kind=KINDS[a["kind"][number]],
            point=LatLon(lat=round(float(a["lat"][number]), 5), lon=round(float(a["lon"][number]), 5)),
            country_code=self._country_codes[a["country"][number]],
            admin1=self._admin1_names[a["admin1"][number]],
            population=int(a["population"][number]),
        )

    @cached_property
    def _numbers_by_id(self) -> dict[str, int]:
        offset = self._arrays["label_offset"]
        ids = (self._labels[offset[i] : offset[i + 1]].split(b"\t", 1)[0].decode() for i in range(len(self)))
        return {place_id: number for number, place_id in enumerate(ids)}


def _swapped_spellings(wanted: str) -> set[str]:
    """A short query with two neighbouring letters swapped, in each way; nothing for long ones."""
    if len(wanted) > _MAX_SWAPPED_LETTERS:
        return set()
    swaps = (wanted[:i] + wanted[i + 1] + wanted[i] + wanted[i + 2 :] for i in range(len(wanted) - 1))
    return {swapped for swapped in swaps if swapped != wanted and swapped == swapped.strip()}


def gram_key(gram: str) -> np.uint64:
    """Three code points of 21 bits each in one number, so that trigrams sort and search as an array."""
    first, second, third = (ord(char) for char in gram)
    return np.uint64(first << 42 | second << 21 | third)


def _map_file(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
