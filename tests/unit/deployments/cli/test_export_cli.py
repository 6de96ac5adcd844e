"""`geotts export` on what GeoTTS itself writes: replies, event logs, run files, folders, requests of a service."""

import asyncio
import base64
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from lxml import etree
from support.geotts_process import geotts
from support.made_answers import an_answer
from support.service import PHOTO, an_app, serving

from deployments.cli import cli
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.errors import DataError
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.export.formats import FORMATS

pytestmark = pytest.mark.slow
ENGINE = ("--set", "engine={name: scripted, turns: 2, tokens_per_turn: 4}", "--set", "routing.method=fixed")


def export(*arguments):
    done = CliRunner().invoke(cli, ["export", *map(str, arguments)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stdout_bytes


def rows(*arguments):
    return export(*arguments, "--as", "geo-uri").decode().split("\r\n")[:-1]


@pytest.fixture
def located(tmp_path, data_store):
    """The output of `geotts locate --json` for two photos."""
    (tmp_path / "photos").mkdir()
    for name in ("one.jpg", "two.jpg"):
        (tmp_path / "photos" / name).write_bytes(PHOTO)
    asked = ["locate", str(tmp_path / "photos"), "--json", "--include", "full", *ENGINE]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(CliRunner().invoke(cli, asked, standalone_mode=False).stdout_bytes)
    return path


def test_the_output_of_locate_is_exported_in_every_format(located, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for name in FORMATS:
        export(located, "--as", name, "-o", folder)
    made = sorted(path.name for path in folder.iterdir())
    assert made == sorted(f"{photo}.jpg{one.suffix}" for photo in ("one", "two") for one in FORMATS.values())
    read = json.loads((folder / "one.jpg.geojson").read_bytes())
    assert read["features"][0]["properties"]["name"].endswith("one.jpg")
    steps = json.loads((folder / "one.jpg.atif.jsonl").read_text().splitlines()[0])["steps"]
    assert len(steps) == 3


def test_an_exported_file_holds_all_photos(located, tmp_path):
    export(located, "--as", "kml", "-o", tmp_path / "all.kml")
    names = etree.parse(tmp_path / "all.kml").findall(".//{*}Folder/{*}name")
    assert [name.text.rpartition("/")[2] for name in names] == ["one.jpg", "two.jpg"]


def test_a_run_file_and_a_folder_that_holds_it_give_the_same_export(tmp_path):
    record = Record(dataset="made", sample="a b/c.jpg", truth=Truth(point=LatLon(lat=1, lon=2)), elapsed_s=1.0,
                    options=LocateOptions(), answer=an_answer())  # fmt: skip
    failed = record.model_copy(update={"sample": "d.jpg", "answer": None, "failure": "engine down"})
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "run.jsonl").write_bytes(record.json_line() + b"\n" + failed.json_line() + b"\n")
    expected = ["# a b/c.jpg", "geo:46.19278,9.01703;u=40000", "# d.jpg: failed"]
    assert rows(tmp_path / "runs" / "run.jsonl") == expected
    assert rows(tmp_path) == expected
    out = tmp_path / "out"
    out.mkdir()
    export(tmp_path / "runs", "--as", "xmp", "-o", out)
    assert [path.name for path in out.iterdir()] == ["c.jpg.xmp"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1, 2]", "expected JSON objects"),
        ("{", "holds no JSON"),
        ('{"a": 1}', "is no answer of GeoTTS"),
        ('{"answer": {"lat": "x"}}', "holds no answers of GeoTTS: lat"),
        ('{"seq": 1, "type": "unknown"}', "holds no answers of GeoTTS"),
    ],
)
def test_a_file_without_answers_of_geotts_is_refused_with_a_reason(tmp_path, content, words):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(DataError, match=words):
        export(tmp_path / "x.json", "--as", "csv")


def test_a_folder_without_answers_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no file that ends in"):
        export(tmp_path, "--as", "csv")


async def test_a_request_of_a_running_service_is_exported_by_its_id_and_by_accept(tmp_path, data_store):
    async with serving(an_app()) as (url, _), httpx.AsyncClient(base_url=url) as http:
        body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "n_parallel": 2, "seed": 3}
        id_ = (await http.post("/locate", json=body)).json()["request_id"]
        log = (await http.get(f"/locate/{id_}/events", headers={"Accept": "application/x-ndjson"})).content
        (tmp_path / "log.ndjson").write_bytes(log)
        for one in FORMATS.values():
            path = tmp_path / f"x{one.suffix}"
            code, _, err = await geotts("export", id_, "--as", one.name, "-o", str(path), "--url", url)
            assert (code, err) == (0, "")
            reply = await http.get(f"/locate/{id_}", headers={"Accept": one.media_type})
            assert reply.headers["content-type"] == one.media_type
            if one.name == "geojson":
                assert len(reply.json()["features"]) == len(json.loads(path.read_bytes())["features"])
            else:
                assert reply.content == path.read_bytes()
        assert (await http.get(f"/locate/{id_}", headers={"Accept": "image/png"})).status_code == 406
        assert await asyncio.to_thread(rows, tmp_path / "log.ndjson") == [
            "# log", *(tmp_path / "x.uri").read_text().split()[2:]
        ]  # fmt: skip


async def test_a_file_that_is_not_there_is_reported(tmp_path):
    code, _, err = await geotts("export", str(tmp_path / "none.json"), "--as", "kml")
    assert code == 2
    assert "No such file" in err


def test_a_binary_format_is_not_written_to_a_terminal(located):
    ours, theirs = pty.openpty()
    program = Path(sys.executable).with_name("geotts")
    try:
        asked = [program, "export", str(located), "--as", "geoparquet"]
        done = subprocess.run(asked, stdout=theirs, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "geoparquet is a binary format" in done.stderr.decode()
