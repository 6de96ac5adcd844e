"""REVERSE's recorded searches: its tables and files as they are, its matching rules, and back."""

import random

import pyarrow
import pytest
from pyarrow import parquet
from support.evaluation_files import write_picture_search, write_text_search
from support.reverse_tables import PATH, PHOTO, write_recorded_tables

from tts.errors import DataError
from tts.toolkit.reverse_cache.evaluation import read_files
from tts.toolkit.reverse_cache.lookup import likeness, picture_call, query_text, text_call
from tts.toolkit.reverse_cache.recorded_searches import CachedResult
from tts.toolkit.reverse_cache.result_choice import choose_results
from tts.toolkit.reverse_cache.tables import IMAGES, read_tables, write_tables


@pytest.fixture
def tables(tmp_path):
    return write_recorded_tables(tmp_path)


def test_the_real_tables_are_read_one_row_a_result(tables):
    cache = read_tables(tables, {PHOTO: PATH})
    first, second = cache.pictures[PATH]
    assert (first.box, [r.useful for r in first.results]) == ((100.0, 200.0, 600.0, 700.0), [True, False])
    assert second.number == 1
    assert "bad.jpg" not in cache.pictures
    assert [call.query for call in cache.texts[PATH]] == ["old crane harbour", "museum | coordinates"]
    assert cache.path_of(PHOTO) == PATH
    assert cache.path_of("other") == "other"


def test_the_tables_survive_a_round_trip(tables, tmp_path):
    before = read_tables(tables)
    write_tables(before, tmp_path / "again")
    assert read_tables(tmp_path / "again") == before
    columns = parquet.read_table(tables / IMAGES).column_names
    assert set(parquet.read_table(tmp_path / "again" / IMAGES).column_names) == set(columns)


def test_a_missing_column_is_named(tmp_path):
    parquet.write_table(pyarrow.Table.from_pylist([{"image_path": "a"}]), tmp_path / IMAGES)
    with pytest.raises(DataError, match="bbox, result_title"):
        read_tables(tmp_path)


def test_only_the_first_recorded_box_of_a_photo_is_compared(tables):
    cache = read_tables(tables)
    call, iou = picture_call(cache, PATH, [100, 200, 600, 700])
    assert (call.number, iou) == (0, 1.0)
    _, iou = picture_call(cache, PATH, [0, 0, 300, 300])
    assert iou is not None
    assert iou < 0.7
    assert picture_call(cache, "nowhere", [0, 0, 1, 1]) == (None, None)


def test_a_query_gets_the_most_alike_call_even_when_it_shares_no_word(tables):
    cache = read_tables(tables)
    assert text_call(cache, PATH, "Coordinates of the MUSEUM").number == 1
    assert text_call(cache, PATH, "xyz").number == 0
    assert text_call(cache, "nowhere", "old crane") is None
    assert (likeness("", ""), likeness("a", ""), likeness("A b", "b c")) == (1.0, 0.0, pytest.approx(1 / 3))
    assert (query_text(["a", "", "b"]), query_text(7), query_text(" x ")) == ("a | b", "7", "x")


def test_at_most_three_useful_results_are_shown_and_ten_in_all():
    results = [CachedResult(i, title=str(i), useful=i <= 5) for i in range(1, 21)]
    shown = choose_results(results, random.Random(0))
    assert (len(shown.results), len(shown.useful)) == (10, 3)
    assert choose_results(results, random.Random(0)) == shown
    assert choose_results([], random.Random(0)).results == ()


def test_the_files_of_the_evaluation_are_found_by_an_exact_key(tmp_path):
    write_text_search(tmp_path, " East Quay ", {"title": "T", "url": "u", "content": "c"})
    write_picture_search(tmp_path, "p.jpg", [1, 2, 3, 4], {"pos": 1, "title": "T", "link": "l", "source": "s"})
    found = read_files(tmp_path)
    text = found.text("EAST quay")
    assert text is not None
    assert text[0] == " East Quay "
    picture = found.picture("p.jpg", [1.0, 2.0, 3.0, 4.0])
    assert picture is not None
    assert picture[0]["link"] == "l"
    assert found.picture("p.jpg", [1, 2, 3, 5]) is None
