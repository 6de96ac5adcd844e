"""The harness: what is equal, what a missing adapter and a broken row count as, and the last line of the bench."""

import asyncio
import json
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from geotts_benchmarks.cli import command
from geotts_benchmarks.released_rows import adapters
from geotts_benchmarks.released_rows.corpus import Corpus, open_corpus
from geotts_benchmarks.released_rows.row_result import EQUAL, compare_pairs, excluded_row, is_same
from tts.errors import ConfigError


@pytest.mark.parametrize(
    ("wanted", "made", "equal"),
    [
        ("a ", "a", False),
        (1, 1.0000005, True),
        (1, 1.1, False),
        (True, 1, False),
        ([1, {"a": 2.0}], [1, {"a": 2}], True),
        ([1], [1, 2], False),
        ({"a": None}, {"a": None, "b": 1}, False),
        (None, None, True),
    ],
)
def test_values_are_equal_only_if_texts_match_exactly_and_numbers_nearly(wanted, made, equal):
    assert is_same(wanted, made) is equal


def test_the_first_difference_is_named():
    judged = compare_pairs(text=("a", "a"), images=([], [1]))
    assert (judged.verdict, judged.reason) == ("differ", "images: wanted [], made [1]")


def _corpus(folder: Path, rows: list[dict]) -> Corpus:
    (folder / "made").mkdir()
    (folder / "made" / "tools.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return open_corpus(folder)


def test_a_row_that_raises_and_one_without_adapter_differ(tmp_path, monkeypatch):
    async def broken(row, corpus):
        raise KeyError("x")

    corpus = _corpus(tmp_path, [{"id": "1"}])
    assert asyncio.run(adapters.judge_row("made", "tools", {"id": "1"}, corpus)).verdict == "differ"
    monkeypatch.setattr(adapters, "ADAPTERS", {("made", "tools"): broken})
    judged = asyncio.run(adapters.judge_row("made", "tools", {"id": "1"}, corpus))
    assert judged.verdict == "differ"
    assert "KeyError" in judged.reason


def test_excluded_rows_count_neither_as_equal_nor_as_different(tmp_path, monkeypatch):
    async def judge(row, corpus):
        return {"1": EQUAL, "2": excluded_row("no text")}.get(row["id"], compare_pairs(a=(1, 2)))

    _corpus(tmp_path, [{"id": "1"}, {"id": "2"}, {"id": "3"}])
    monkeypatch.setattr(adapters, "ADAPTERS", {("made", "tools"): judge})
    done = CliRunner().invoke(command, ["conformance", "--corpus", str(tmp_path)])
    assert done.exit_code == 0, done.output
    tools = json.loads(done.stdout.splitlines()[-1])["by_system"]["made"]["tools"]
    assert tools == {"rows": 3, "equal": 1, "declared": 1, "share": 50.0, "differ": ["3"], "declared_ids": ["2"]}


def test_a_folder_without_rows_is_no_corpus(tmp_path):
    with pytest.raises(ConfigError, match="no corpus"):
        open_corpus(tmp_path)
