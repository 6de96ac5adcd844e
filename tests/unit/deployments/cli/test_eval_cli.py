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


def test_photos_that_are_missing_or_damaged_are_named_each_time(data_store, photos, tmp_path):
    table = ["IMG_ID,LAT,LON"]
    for i in range(4):
        table.append(f"{i}.jpg,{53.5 if i != 2 else ''},{10 if i != 2 else ''}")
        if i:
            (tmp_path / f"{i}.JPG").write_bytes((photos / f"{i}.jpg").read_bytes() if i != 3 else b"no picture")
    (tmp_path / "im2gps3k.csv").write_text("\n".join(table))
    run_file = tmp_path / "runs" / "a.jsonl"
    command = ["eval", "run", "im2gps3k", tmp_path, "--n", "1", "--out", run_file, *ENGINE]
    code, _, err = finish(geotts(*command))
    assert (code, run_file.exists()) == (2, False)
    assert "1 pictures named in" in " ".join(err.split())
    for _ in range(2):
        code, _, err = finish(geotts(*command, "--skip-unusable"))
        assert code == 1, err
        assert "1 rows of" in err
        assert "1 of 2 photos failed: 3.jpg" in err
    named = (tmp_path / "runs" / "a.left_out.txt").read_text().splitlines()
    assert [line.split("\t")[0] for line in named] == ["0.jpg", "2.jpg"]
    (tmp_path / "0.JPG").write_bytes((photos / "1.jpg").read_bytes())
    code, _, err = finish(geotts(*command, "--skip-unusable", "--seed", "7"))
    assert (code, "another" in err) == (2, True)
    assert (tmp_path / "runs" / "a.left_out.txt").read_text().splitlines() == named
    (tmp_path / "0.JPG").unlink()
    (tmp_path / "3.JPG").write_bytes((photos / "3.jpg").read_bytes())
    code, _, err = finish(geotts(*command, "--skip-unusable", "--retry-failed"))
    assert (code, "country" in err) == (0, False)
    code, out, _ = finish(geotts("export", run_file, "--as", "csv"))
    assert (code, sorted(line.split(",")[0] for line in out.splitlines()[1:])) == (0, ["1.jpg", "3.jpg"])


@pytest.mark.parametrize(
    "text", ["image,lat,lon\na.jpg,1,2\n", '{"file": "a.jpg", "lat": 1, "lon": 2}\n{"file": "b.jpg"}']
)
def test_a_table_that_is_named_as_run_file_is_refused_and_left_as_it_is(photos, tmp_path, text):
    (tmp_path / "labels").write_text(text)
    code, _, err = finish(geotts("eval", "run", "folder", photos, "--n", "1", "--out", tmp_path / "labels", *ENGINE))
    assert code == 2
    assert "choose another file" in " ".join(err.split())
    assert (tmp_path / "labels").read_text() == text


def test_outputs_are_scored_with_the_truths_of_another_table(tmp_path):
    (tmp_path / "im2gps3k_places365.csv").write_text(
        "IMG_ID,LAT,LON\n1.jpg,48.85,2.35\n2.jpg,-33.86,151.2\n3.jpg,1,1\n"
    )
    outputs = [("images/2.jpg", "I would say 33°51′36″S, 151.2° E"), ("1", "No idea"), ("9.jpg", "1.0, 1.0")]
    lines = [json.dumps({"image": image, "response": text}) for image, text in outputs]
    (tmp_path / "outputs.jsonl").write_text("\n".join(lines))
    truth = ["--truth", tmp_path / "im2gps3k_places365.csv"]
    code, out, err = finish(geotts("eval", "score", tmp_path / "outputs.jsonl", *truth, "--parser", "free_text"))
    score = json.loads(out)
    assert (code, score["n"], score["unparsed"], score["abstained"], score["unreadable"]) == (0, 3, 2, 1, [2])
    assert (score["missing"], score["not_in_truth"], score["acc"][0]) == (1, 1, 33.33)
    assert "1 photos of" in err
    assert "count as misses (--only-answered leaves them out): 3" in err
    assert "1 rows are not scored" in err
    assert "--parser free_text finds no position in 1 of 3 answers: rows 2" in err
    code, out, _ = finish(geotts("eval", "score", tmp_path / "outputs.jsonl", *truth, "--only-answered"))
    assert (code, json.loads(out)["n"]) == (0, 2)
    code, _, err = finish(geotts("eval", "score", tmp_path / "outputs.jsonl", "--only-answered"))
    assert (code, "--truth" in err) == (2, True)


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
