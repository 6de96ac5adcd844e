"""REVERSE's recorded searches: its tables and files as they are, its matching rules, and back."""

import csv
import json
import random
import sqlite3
from contextlib import closing

import pyarrow
import pytest
from click.testing import CliRunner
from PIL import Image
from pyarrow import parquet
from support.basics import a_context
from support.evaluation_files import write_picture_search, write_text_search

from deployments.cli.eval import command as eval_command
from deployments.cli.tape import command
from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tts.config import ProviderSettings, ToolsConfig
from tts.dialects.settings import DialectSettings
from tts.domain.events import Accepted, PhotoInfo
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall, ToolResult, WebFact
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.errors import DataError
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.ports.toolbox import ToolContext
from tts.toolkit.reverse_cache.evaluation import (
    IMAGE_FILE,
    SERPER_FILE,
    TEXT_FILE,
    picture_key,
    read_files,
    text_key,
)
from tts.toolkit.reverse_cache.lookup import likeness, picture_call, query_text, text_call
from tts.toolkit.reverse_cache.recorded_searches import CachedResult
from tts.toolkit.reverse_cache.result_choice import choose_results
from tts.toolkit.reverse_cache.tables import IMAGES, TEXTS, read_tables, write_tables

PATH = "images/a/one.jpg"
PHOTO = "f" * 64


def _picture(position, useful, *, call=0, title="P", box="[100.0, 200.0, 600.0, 700.0]", path=PATH):
    return {
        "image_id": "one.jpg", "image_path": path, "bbox": box, "call_idx": call, "result_pos": position,
        "result_title": f"{title} {position}", "result_link": f"https://p{position}.example/", "result_source": "S",
        "result_thumbnail": "", "is_geo_useful": useful, "useful_indices": "[1]", "n_useful": 1, "call_turn": 2,
        "part": "p",
    }  # fmt: skip


def _text(position, useful, query, call):
    return {
        "image_id": "one.jpg", "image_path": PATH, "call_idx": call, "query": query, "result_index": position,
        "result_title": f"T {position}", "result_url": f"https://t{call}{position}.example/",
        "result_content": "words " * 60, "is_geo_useful": useful, "useful_indices": "[]", "n_useful": 0,
        "call_turn": 4, "part": "p",
    }  # fmt: skip


@pytest.fixture
def tables(tmp_path):
    pictures = [
        _picture(2, False), _picture(1, False), _picture(1, True), _picture(1, True, call=1, box="[0, 0, 300, 300]"),
        _picture(-1, False, path="images/a/two.jpg", title=""), _picture(1, True, box="no box", path="bad.jpg"),
    ]  # fmt: skip
    texts = [_text(1, True, "old crane harbour", 0), _text(1, False, "museum | coordinates", 1)]
    parquet.write_table(pyarrow.Table.from_pylist(pictures), tmp_path / IMAGES)
    parquet.write_table(pyarrow.Table.from_pylist(texts), tmp_path / TEXTS)
    return tmp_path


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


async def test_searches_about_a_photo_are_served_by_the_matching_rules_of_reverse(tables, tmp_path):
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    settings = ProviderSettings(path=str(tables), photos=str(photos), matching="reverse")
    tools = ToolsConfig(providers=("tape", "offline"), settings={"tape": settings})
    toolbox = make_tooling(AppArgs(tools=tools), {}).toolbox
    context = ToolContext(a_context(), photo_sha256=(PHOTO,))

    async def ask(name, **arguments):
        return (await toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)).result

    found = await ask("web_search", query="something else entirely")
    assert [fact.url for fact in found.facts] == ["https://t01.example/"]
    found = await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.7])
    assert [fact.url for fact in found.facts] == ["https://p1.example/", "https://p2.example/"]
    assert not (await ask("image_search", bbox=[0.0, 0.0, 0.3, 0.3])).ok
    other = ToolContext(a_context(), photo_sha256=("0" * 64,))
    call = ToolCall(id="c", name="web_search", arguments={"query": "something else entirely"})
    assert not (await toolbox.call(call, other)).result.ok


@pytest.fixture
def recorded_run(tmp_path):
    """A run file with one rollout of turns: text, tool, arguments, links of what came back."""

    def make(*turns):
        trajectory_turns = []
        for index, (text, tool, arguments, links) in enumerate(turns):
            call = ToolCall(id=f"c{index}", name=tool or "", arguments=arguments)
            facts = tuple(WebFact(number=n, title="t", url=link) for n, link in enumerate(links, 1))
            result = ToolResult(call_id=call.id, name=call.name, text="r", facts=facts)
            trajectory_turns.append(
                Turn(index=index, text=text, calls=(call,) if tool else (), results=(result,) if tool else ())
            )
        photo = PhotoInfo(sha256=PHOTO, source_sha256=PHOTO, width=64, height=64)
        accepted = Accepted(request_id="r", photos=(photo,), n_parallel=1, depth="deep")
        trajectory = Trajectory(rollout_id=0, turns=tuple(trajectory_turns))
        record = Record(
            dataset="made",
            sample="s",
            truth=Truth(point=LatLon(lat=10.0, lon=20.0)),
            options=LocateOptions(),
            elapsed_s=1.0,
            run=Run(accepted=accepted, rollouts={0: trajectory}),
        )
        (tmp_path / "run.jsonl").write_bytes(record.json_line() + b"\n")
        return tmp_path / "run.jsonl"

    return make


def _command(*arguments):
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_command_line_counts_converts_and_names_photos(tables, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (64, 64), "red").save(tmp_path / "photos" / "one.jpg")
    _command("photos", tmp_path / "photos", tmp_path / "photos.csv", "--prefix", "images/a/")
    (row,) = csv.DictReader((tmp_path / "photos.csv").read_text().splitlines())
    assert row["image_path"] == PATH
    counts = json.loads(_command("check", tables, "--photos", tmp_path / "photos.csv"))
    assert counts == {"photos": 2, "boxes": 3, "texts": 2, "results": 6, "useful": 3, "named": 1}
    _command("convert-cache", tables, tmp_path / "again")
    assert read_tables(tmp_path / "again") == read_tables(tables)


def test_converted_tables_keep_their_rows_and_columns(tmp_path):
    shared = {"image_id": "shown.jpg", "image_path": PATH}
    marks = {"useful_indices": "[1]", "n_useful": 1, "call_turn": 7, "part": "part00"}
    picture = {
        **shared, "bbox": "[1.0, 2.0, 3.0, 4.0]", "call_idx": 0, "result_pos": 1, "result_title": "T",
        "result_link": "https://p.example/", "result_source": "P", "result_thumbnail": "", "is_geo_useful": True,
        **marks,
    }  # fmt: skip
    text = {
        **shared, "call_idx": 3, "query": "q", "result_index": 1, "result_title": "T", "result_url": "https://t.example/",
        "result_content": "c", "is_geo_useful": True, **marks,
    }  # fmt: skip
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    for name, row in ((IMAGES, picture), (TEXTS, text)):
        parquet.write_table(pyarrow.Table.from_pylist([row]), before / name)
    _command("convert-cache", before, after)
    for name in (IMAGES, TEXTS):
        assert parquet.read_table(after / name).equals(parquet.read_table(before / name))


def test_files_of_the_evaluation_are_copied_with_replies_and_times_as_recorded(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    reply = '{"success": true, "results": [], "response_time": 0.9}'
    picture = (picture_key(PATH, [1, 2, 3, 4]), PATH, "1.0,2.0,3.0,4.0", reply, 1767225600)
    rows = {TEXT_FILE: (text_key("q"), "q", reply, 1767225600), IMAGE_FILE: picture, SERPER_FILE: picture}
    for name, row in rows.items():
        with closing(sqlite3.connect(before / name)) as database, database:
            places = "query TEXT" if name == TEXT_FILE else "img_path TEXT, bbox TEXT"
            database.execute(f"CREATE TABLE {name[:-3]} (key TEXT, {places}, result TEXT, created INTEGER)")
            database.execute(f"INSERT INTO {name[:-3]} VALUES ({', '.join('?' for _ in row)})", row)
    _command("convert-cache", before, after)
    for name, row in rows.items():
        with closing(sqlite3.connect(after / name)) as database:
            assert database.execute(f"SELECT * FROM {name[:-3]}").fetchall() == [row]


def test_labels_give_the_rewards_of_calls_and_marks(tables, tmp_path, recorded_run):
    run = recorded_run(
        ("<think>a</think>", "image_search_tool", {"bbox_2d": [100, 200, 600, 700]}, ["https://p1.example/", "x"]),
        ("<think>b</think><useful>[1]</useful>", "text_search_tool", {"query": "q"}, ["https://t01.example/"]),
        ("<think>c</think><useful>[1]</useful><answer>A, B, 10.0, 20.0</answer>", None, {}, []),
    )
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    done = CliRunner().invoke(
        eval_command, ["rewards", str(run), "--system", "reverse", "--labels", str(tables), "--photos", str(photos)]
    )
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    # overlap 1; marks right; a text search; all results useful and all marked earns nothing
    assert made["parts"]["tool_rewards"] == pytest.approx([0.2, 0.3, 0.1, 0.0])


async def test_the_files_of_the_evaluation_serve_what_was_asked_before(tmp_path):
    write_text_search(tmp_path, "East Quay", {"title": "T", "url": "https://t.example/", "content": "c"})
    hit = {"pos": 1, "title": "P", "link": "https://p.example/"}
    write_picture_search(tmp_path, PATH, [100, 200, 600, 700], hit)
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    tools = ToolsConfig(
        providers=("tape", "offline"), settings={"tape": ProviderSettings(path=str(tmp_path), photos=str(photos))}
    )
    toolbox = make_tooling(AppArgs(tools=tools), {}).toolbox
    context = ToolContext(a_context(), photo_sha256=(PHOTO,))

    async def ask(name, **arguments):
        return (await toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)).result

    assert (await ask("web_search", query=" east QUAY")).facts[0].url == "https://t.example/"
    assert not (await ask("web_search", query="east quay museum")).ok
    assert (await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.7])).facts[0].url == "https://p.example/"
    assert not (await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.71])).ok


async def test_the_released_search_by_text_finds_what_was_recorded_for_the_photo(tables, tmp_path):
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    settings = {"tape": ProviderSettings(path=str(tables), photos=str(photos), matching="reverse")}
    tools = ToolsConfig(providers=("tape", "offline"), settings=settings)
    args = AppArgs(tools=tools, dialect="reverse", dialect_settings=DialectSettings(behaviour="released"))
    toolbox = make_tooling(args, {}).toolbox

    async def ask(sha256):
        context = ToolContext(a_context(), photo_sha256=(sha256,))
        written = {"query": read_tables(tables).texts[PATH][0].query}
        call = ToolCall(id="c", name="web_search.reverse.text_search_tool", arguments={"written": written})
        return (await toolbox.call(call, context)).result.text

    assert "https://t01.example/" in await ask(PHOTO)
    assert "No results found" in await ask("0" * 64)
