"""`geotts tape` and `geotts eval rewards` on recorded searches of REVERSE."""

import csv
import json
import sqlite3
from contextlib import closing

import pyarrow
import pytest
from click.testing import CliRunner
from PIL import Image
from pyarrow import parquet
from support.reverse_tables import PATH, PHOTO, write_recorded_tables

from deployments.cli.eval import command as eval_command
from deployments.cli.tape import command
from tts.domain.events import Accepted, PhotoInfo
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall, ToolResult, WebFact
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.toolkit.reverse_cache.evaluation import IMAGE_FILE, SERPER_FILE, TEXT_FILE, picture_key, text_key
from tts.toolkit.reverse_cache.tables import IMAGES, TEXTS, read_tables


@pytest.fixture
def tables(tmp_path):
    return write_recorded_tables(tmp_path)


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
