"""The command as a person uses it: real processes, a folder of project-made signs, the scripted engine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.basics import sign_bytes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
ENGINE = [
    "--set",
    "engine.name=scripted",
    "--set",
    "engine.turn_s=0.1",
    "--set",
    "engine.turns=1",
    "--set",
    "routing.method=fixed",
]


def geotts(*arguments, **more):
    program = "from deployments.cli import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=ROOT, **more)  # fmt: skip


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    labels = []
    for i in range(12):
        (folder / f"{i}.jpg").write_bytes(sign_bytes("Wilhelmsburg", str(i)))
        labels.append(
            {"file": f"{i}.jpg", "lat": 53.5, "lon": 10.0, "country": "Germany", "has_legible_text": i % 2 == 0}
        )
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    return folder


def test_an_interrupted_evaluation_continues_with_the_same_command(data_store, photos, tmp_path):
    command = [
        "eval",
        "run",
        "folder",
        photos,
        "--n",
        "1",
        "--concurrency",
        "1",
        "--out",
        tmp_path / "r.jsonl",
        *ENGINE,
    ]
    process = geotts(*command)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        (tmp_path / "r.jsonl").exists() and (tmp_path / "r.jsonl").stat().st_size
    ):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "To continue, run the same command again: geotts eval run folder" in err
    done = len((tmp_path / "r.jsonl").read_text().splitlines())
    assert 1 <= done < 12
    code, _, err = finish(geotts(*command))
    assert (code, f"{done} done before" in err) == (0, True)
    samples = [json.loads(line)["sample"] for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert len(samples) == len(set(samples)) == 12
    code, out, _ = finish(geotts("eval", "report", tmp_path / "r.jsonl"))
    assert (code, "| text | 6 |" in out) == (0, True)
    deep = ["--depth", "deep", "--out", tmp_path / "deep.jsonl"]
    code, _, err = finish(geotts("eval", "run", "folder", photos, "--n", "1", *deep, *ENGINE))
    assert code == 0, err
    code, out, _ = finish(geotts("eval", "report", tmp_path / "r.jsonl", tmp_path / "deep.jsonl"))
    assert (code, "| auto, n = 1 | 12 |" in out, "| deep, n = 1 | 12 |" in out) == (0, True, True)


def test_a_prompt_that_was_edited_does_not_go_into_the_same_run_file(data_store, photos, tmp_path):
    prompt, run_file = tmp_path / "prompt.txt", tmp_path / "r.jsonl"
    prompt.write_text("Where is this? {tools}")
    prompted = ["--set", f"dialect_settings.prompt_file={prompt}", "--out", run_file, *ENGINE]
    command = ["eval", "run", "folder", photos, "--n", "1", *prompted]
    assert finish(geotts(*command, "--limit", "2"))[0] == 0
    recorded = run_file.read_bytes()
    prompt.write_text("Where is this, exactly? {tools}")
    code, _, err = finish(geotts(*command, "--limit", "3"))
    assert code == 2
    assert "made with another configuration, or with other contents of a file" in " ".join(err.split())
    assert run_file.read_bytes() == recorded
    prompt.write_text("Where is this? {tools}")
    assert finish(geotts(*command, "--limit", "3"))[0] == 0
    assert len(run_file.read_text().splitlines()) == 3


def test_scores_are_one_json_line_a_file(tmp_path):
    row = {"gt_lat": 1, "gt_lon": 2, "pred_lat": 1, "pred_lon": 2}
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
    code, out, _ = finish(geotts("eval", "score", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--datum", "gcj-02"))
    scores = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [Path(score["file"]).name for score in scores] == ["a.jsonl", "b.jsonl"]
    assert scores[0]["datum"] == "GCJ-02"
    assert (scores[0]["n"], scores[0]["unparsed"], scores[0]["acc"]) == (1, 0, [100.0] * 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "score", "nowhere.jsonl"], "nowhere.jsonl is not a file"),
        (["eval", "run", "folder", "nowhere"], "nowhere does not exist"),
        (["eval", "report", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
    ],
)
def test_wrong_use_of_the_command_line_ends_with_2_and_no_traceback(arguments, message):
    code, _, err = finish(geotts(*arguments))
    assert code == 2
    assert message in " ".join(err.split())
    assert "Traceback" not in err
