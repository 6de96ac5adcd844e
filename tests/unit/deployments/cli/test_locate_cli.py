"""`geotts locate` as a person runs it, with an engine whose timing is known; and how it ends when interrupted."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from PIL import Image
from support.basics import sign_bytes

from deployments.cli import cli
from deployments.cli import locate as locate_module

ENGINE = ("--set", "engine={name: scripted, turns: 2, tokens_per_turn: 4}", "--set", "routing.method=fixed")
PROGRAM = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"


@pytest.fixture
def photo(tmp_path, monkeypatch, data_store):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "SECRETNAME.jpg"
    path.write_bytes(sign_bytes("Rue de Rivoli"))
    return path


def locate(*arguments, **options):
    return CliRunner().invoke(cli, ["locate", *arguments, *ENGINE], standalone_mode=False, **options)


@pytest.mark.slow
def test_plain_lines_and_the_answer_are_printed_when_nobody_watches(photo):
    done = locate("SECRETNAME.jpg", "-n", "2")
    assert (done.return_value, done.exception) == (0, None)
    assert "plan: " in done.stderr
    assert "\x1b[" not in done.output
    assert "attempts of one model" in done.stdout


def test_the_plan_and_the_answer_count_attempts_in_one_word(photo):
    done = locate("SECRETNAME.jpg", "-n", "2", "--depth", "deep")
    assert "plan: 2 attempts" in done.stderr
    assert "2 of 2 attempts" in done.stdout
    assert "rollout" not in done.output.lower()


def test_json_is_one_object_a_photo_and_nothing_else_on_stdout(photo):
    done = locate("SECRETNAME.jpg", "SECRETNAME.jpg", "--json", "--include", "full", "--seed", "1")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["photo"] for reply in replies] == ["SECRETNAME.jpg"] * 2
    assert replies[0]["answer"]["lat"] == replies[1]["answer"]["lat"]
    assert "SECRETNAME" not in json.dumps([reply | {"photo": ""} for reply in replies])


@pytest.mark.slow
def test_geojson_is_a_collection_of_features(photo):
    collection = json.loads(locate("SECRETNAME.jpg", "--geojson").stdout)
    assert collection["type"] == "FeatureCollection"


@pytest.mark.slow
def test_a_budget_takes_the_place_of_n_and_depth(photo):
    done = locate("SECRETNAME.jpg", "--budget", "20s,5k-tokens")
    assert (done.return_value, done.exception) == (0, None)
    assert "the budget is 5,000 tokens and 20 s" in done.stderr
    assert "of 5,000 tokens and 20 s" in done.stdout
    for wrong in (("--budget", "20"), ("--budget", "20s", "-n", "2"), ("--budget", "20s", "--depth", "deep")):
        assert "budget" in str(locate("SECRETNAME.jpg", *wrong).exception)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "diverse"),
    [((), None), (("--diverse-first-calls",), True), (("--no-diverse-first-calls",), False)],
)
def test_diverse_first_calls_are_asked_for_or_refused_by_an_option(photo, monkeypatch, given, diverse):
    asked = []

    async def note(inputs, options, *more):
        asked.append(options.diverse_first_calls)
        return 0

    monkeypatch.setattr(locate_module, "locate_inputs", note)
    assert locate("SECRETNAME.jpg", *given).exception is None
    assert asked == [diverse]


@pytest.mark.slow
def test_photos_are_read_from_stdin_and_from_a_folder(photo):
    assert json.loads(locate("-", "--json", input=photo.read_bytes()).stdout)["photo"] == "stdin"
    Image.new("RGB", (50, 50)).save(photo.with_name("b.png"))
    assert len(locate(".", "--json").stdout.splitlines()) == 2


@pytest.mark.slow
def test_a_broken_photo_is_reported_and_the_others_go_on(photo):
    photo.with_name("broken.jpg").write_bytes(b"not a picture")
    done = locate("broken.jpg", "SECRETNAME.jpg", "--json")
    assert done.return_value == 1
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["error"]["code"] == "invalid-photo"
    assert "not a picture we read" in first["error"]["detail"]
    assert second["answer"]
    assert done.stderr.count("not a picture we read") == 1


@pytest.mark.slow
def test_claims_of_the_file_are_reported_only_when_asked(photo):
    exif = Image.Exif()
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.6)})
    out = io.BytesIO()
    Image.open(photo).save(out, "JPEG", exif=exif)
    photo.write_bytes(out.getvalue())
    assert json.loads(locate("SECRETNAME.jpg", "--json").stdout)["answer"]["file_claims"] == []
    (claim,) = json.loads(locate("SECRETNAME.jpg", "--json", "--exif").stdout)["answer"]["file_claims"]
    assert claim["point"] == {"lat": 48.8566667, "lon": 2.351}


@pytest.mark.slow
def test_reports_are_numbered_when_there_are_several(photo, tmp_path):
    assert locate("SECRETNAME.jpg", "--html", "one.html").return_value == 0
    locate("SECRETNAME.jpg", "SECRETNAME.jpg", "--html", "r.html")
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["one.html", "r-1.html", "r-2.html"]
    assert (tmp_path / "one.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_a_report_that_can_not_be_written_ends_with_1_and_a_message(photo):
    done = locate("SECRETNAME.jpg", "SECRETNAME.jpg", "--json", "--html", "x" * 250 + ".html")
    assert (done.return_value, done.exception) == (1, None)
    assert done.stderr.count("the report was not written: ") == 2
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.slow
def test_eval_explains_wrong_use_as_well(photo):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "eval", "run", "folder", ".", "--stop", "bad"], capture_output=True, text=True,
        check=False, env=_environment(), timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("geotts: stop: must be none, quorum")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name at least one photo"),
        (("nowhere.jpg",), "no file"),
        (("SECRETNAME.jpg", "-n", "0"), "0 is not in the range"),
        (("SECRETNAME.jpg", "--within", "Atlantis"), "Atlantis"),
        (("SECRETNAME.jpg", "--set", "engine.name=oracle"), "engine"),
        (("SECRETNAME.jpg", "--set", "a=1", "--set", "a.b=2"), "a has a value already"),
        (("SECRETNAME.jpg", "--seed", "9999999999"), "--seed"),
        (
            ("SECRETNAME.jpg", "--stop", "garbage"),
            "stop: must be none, quorum[:k], first:m, beta[:p], worth[:p] or loss",
        ),
        (("SECRETNAME.jpg", "--endpoint", "foo"), "an endpoint is a URL that starts with http:// or https://"),
        (("SECRETNAME.jpg", "--set", "foo.bar=1"), "foo: no such setting"),
        (("SECRETNAME.jpg", "--set", "gateway.prot=1"), "gateway.prot: no such setting; did you mean port?"),
        (("SECRETNAME.jpg", "--set", "engine={name: openai, base_ulr: x}"), "did you mean base_url?"),
        (("SECRETNAME.jpg", "--set", "engine={name: openai, base_url: x}"), "base_url: must be a URL that starts"),
        (("SECRETNAME.jpg", "--hint", "x" * 5000), "hint: String should have at most 2000"),
        (("SECRETNAME.jpg", "--deadline", "nan"), "deadline_s: Input should be"),
        (("SECRETNAME.jpg", "--url=http://127.0.0.1:9", "--api-key", "kéy"), "API key"),
        (("SECRETNAME.jpg", "--html", "/nonexistent/x.html"), "no folder '/nonexistent'"),
        (("SECRETNAME.jpg", "--url", "http://127.0.0.1:9"), "did not answer"),
    ],
)
def test_wrong_use_is_explained_with_its_exit_code(photo, arguments, message):
    engine = () if "--set" in arguments else ENGINE
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "locate", *arguments, *engine], capture_output=True, text=True, check=False,
        env=_environment(), timeout=120,
    )  # fmt: skip
    assert done.returncode == (1 if "--url" in arguments else 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_interrupt_cancels_cleanly(photo):
    slow = (
        "--set",
        "engine={name: scripted, turns: 2, tokens_per_turn: 4, turn_s: 60}",
        "--set",
        "routing.method=fixed",
    )
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "locate", "SECRETNAME.jpg", "--depth", "deep", *slow],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment(),
    ) as running:  # fmt: skip
        while "plan:" not in (line := running.stderr.readline()):
            assert line, "it ended before it had a plan"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.strip().endswith("interrupted")
    assert "Traceback" not in err
    assert out == ""


def _environment():
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PYTHONPATH": path}
