"""The served code equals the corpus of the authors' inputs and outputs in every row that counts, system by system."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from geotts_benchmarks.cli import command

pytestmark = pytest.mark.slow

FOLDER = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released"))
# system, its files, and the most rows that may be declared: a bar that declaring more would hollow out
BARS = {
    "geoagent": {"tools": 0, "turns": 0, "rewards": 3, "sampling": 0},
    "georeasoner": {"rewards": 0},
    "geovista": {"tools": 0, "turns": 0, "rewards": 0, "sampling": 0},
    "reverse": {"tools": 1, "turns": 0, "rewards": 0, "sampling": 6},
    "thinking_with_map": {"tools": 0, "turns": 0, "rewards": 0, "sampling": 15},
}
READERS_DECLARED = 11
needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason="the corpus of released behaviour is not here")


def conformance(*arguments):
    done = CliRunner().invoke(command, ["conformance", "--corpus", str(FOLDER), *arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


@needs_corpus
@pytest.mark.parametrize("system", BARS)
def test_every_counted_row_of_the_corpus_is_equal(system):
    files = conformance("--system", system)["by_system"][system]
    assert files.keys() == BARS[system].keys()
    for name, found in files.items():
        assert (name, found["differ"], found["share"]) == (name, [], 100.0)
        assert found["equal"] == found["rows"] - found["declared"] > 0
        assert found["declared"] <= BARS[system][name], found["declared_ids"]


@needs_corpus
def test_every_counted_row_of_the_readers_is_equal():
    found = conformance("--only", "readers")["readers"]
    assert (found["differ"], found["share"]) == ([], 100.0)
    assert found["equal"] == found["rows"] - found["declared"] > 0
    assert found["declared"] <= READERS_DECLARED
    assert all(name.startswith("eval/published_totals/") for name in found["declared_ids"])


@needs_corpus
def test_no_system_of_the_corpus_is_left_out():
    with_rows = {path.parent.name for path in FOLDER.glob("*/*.jsonl")}
    assert with_rows == BARS.keys()
