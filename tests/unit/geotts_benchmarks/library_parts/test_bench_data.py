"""The benchmarks of the gazetteer and of perception: what they ask, and the keys they promise."""

import json
import random
from pathlib import Path

import pytest
from PIL import Image
from rapidfuzz.distance import OSA

from geotts_benchmarks.library_parts import gazetteer as bench_gazetteer
from geotts_benchmarks.library_parts import perception as bench_perception
from geotts_benchmarks.library_parts.gazetteer import Query, ask, misspell, queries
from tts.geodata.store import DataStore

pytestmark = pytest.mark.slow

BARS = {"p50_ms", "p99_ms", "recall_at_5", "first_ms"}


@pytest.fixture(scope="module")
def asked():
    return list(queries(12, seed=2))


def test_the_queries_of_the_gazetteer_bench_are_repeated_by_their_seed(asked):
    assert asked == list(queries(12, seed=2))
    assert asked != list(queries(12, seed=3))
    kinds = [query.kind for query in asked]
    assert (kinds.count("misspelt"), kinds.count("exact")) == (12, 6)


def test_a_misspelt_query_differs_by_the_stated_number_of_edits(asked):
    rng = random.Random(4)
    for edits in (1, 2):
        away = [OSA.distance("Wilhelmsburg", misspell("Wilhelmsburg", edits, rng)) for _ in range(200)]
        assert sorted(away)[100] == edits  # two slips may undo or stretch one another
        assert max(away) <= 2 * edits - 1
    assert misspell("Oba", 1, rng) == ""
    assert all(OSA.distance(query.text, query.name) > 0 for query in asked if query.edits)


def test_a_hit_is_the_meant_name_and_a_stranger_is_a_miss(tmp_path, gazetteer):
    rows = [
        Query("Rourkelo", "Rourkela", gazetteer.search("Rourkela")[0].place.id, "misspelt", 1),
        Query("Qqqqqqqq", "Rourkela", "gn:1", "misspelt", 1),
        Query("Coimbra", "Coimbra", gazetteer.search("Coimbra")[0].place.id, "exact"),
        Query("東京", "Tokyo", gazetteer.search("Tokyo")[0].place.id, "alternate"),
    ]
    found = ask(DataStore().root / "gazetteer", rows)
    assert found.keys() >= BARS
    assert (found["recall_at_5"], found["recall_exact"], found["recall_alternate"]) == (0.5, 1.0, 1.0)
    assert 0 < found["p50_ms"] <= found["p99_ms"]


def test_the_gazetteer_bench_builds_the_gazetteer_that_it_asks(monkeypatch):
    built: list[Path] = []
    monkeypatch.setattr(bench_gazetteer, "build_gazetteer", built.append)
    monkeypatch.setattr(bench_gazetteer, "ask", lambda folder, rows: {"folder": folder})
    found = bench_gazetteer.measure(10, 0)
    assert built == [found["folder"]]
    assert found["build_s"] >= 0


def test_perception_is_measured_in_a_process_of_its_own(tmp_path):
    paths = []
    for i in range(2):
        Image.new("RGB", (320, 240), (90 * i, 120, 60)).save(tmp_path / f"{i}.jpg")
        paths.append((tmp_path / f"{i}.jpg", bool(i)))
    found = bench_perception.measure(paths)
    assert (found["photos"], found["lines"]) == (2, 0)
    assert 0 < found["p50_s"] < 30
    assert 100 < found["pss_mb"] < 2000
    assert json.dumps(found)
