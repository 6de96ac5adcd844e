"""`geotts accept` as the owner of a new engine runs it: a process, a chat server that errs at known rates, photos."""

import asyncio
import json
import os
import random
import signal
import sys
from pathlib import Path

import pytest
from support.basics import sign_bytes
from support.endpoint import serving
from support.faulty_model import FaultyModel, refuse_model

PAGES = {"/v1/models": {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 65536}]}}
REAL = ("--set", "engine.retries=0")
QUICK = ("--set", "engine.retries=0", "--set", "routing.method=fixed")
SHARES = {  # fault → of what, and one in how many
    "cut_turns": ("cut", 10),
    "parse_failures": ("unusable", 8),
    "invalid_calls": ("invalid", 6),
    "repeated_calls": ("repeated", 3),
    "cut_contexts": ("context", 10),
}


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "GEOTTS_CALIBRATIONS": str(tmp_path / "calibrations")}


async def start(folder, environment, *arguments):
    return await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("geotts")), *map(str, arguments), cwd=folder, env=environment,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def geotts(folder, environment, *arguments):
    """(exit code, stdout, stderr) of the command, started in `folder`."""
    process = await start(folder, environment, *arguments)
    try:
        out, err = await asyncio.wait_for(process.communicate(), 240)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()


def accept(folder, environment, url, *arguments):
    return geotts(
        folder, environment, "accept", "--profile", "generic", "--endpoint", url, "--model", "m", *QUICK, *arguments
    )


def labelled_photos(folder, count):
    """Signs with places some way from Otaru, most of them near."""
    folder.mkdir()
    near = random.Random(7)
    labels = []
    for i in range(count):
        (folder / f"{i}.jpg").write_bytes(sign_bytes("Otaru", f"No. {i}", size=(320, 200)))
        off = near.lognormvariate(-4, 1.5)
        labels.append(
            {"file": f"{i}.jpg", "lat": 43.19 + off, "lon": 140.99 - off, "country": "Japan", "country_code": "JP"}
        )
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    return folder


async def test_each_fault_of_a_scripted_model_is_found_within_its_interval(data_store, environment, tmp_path):
    model = FaultyModel({name: every for name, every in SHARES.values()}, cached=0.02)
    async with serving(model, PAGES) as endpoint:
        code, out, err = await accept(tmp_path, environment, endpoint.url, "--json")
    assert code == 3, err
    found = json.loads(out)
    for fault, (name, every) in SHARES.items():
        rate = found["faults"][fault]
        assert rate["found"] == model.counts[name], fault
        repeatable = model.counts["repeatable"] / model.counts["calls"]  # an invalid call repeats nothing
        nominal = 100 / every * (repeatable if fault == "repeated_calls" else 1)
        assert rate["percent"]["low"] <= nominal <= rate["percent"]["high"], fault
    assert found["faults"]["cut_contexts"]["of"] == 80
    assert found["costs"]["cached_percent"]["value"] == pytest.approx(2.0, abs=0.5)
    faults = {finding["about"] for finding in found["findings"] if finding["kind"] == "fault"}
    assert set(SHARES) <= faults
    assert "cached_tokens" in {finding["about"] for finding in found["findings"]}


async def test_geotts_accept_calibrates_a_sound_engine_which_then_states_fitted_radii(
    data_store, environment, tmp_path
):
    photos = labelled_photos(tmp_path / "photos", 42)
    async with serving(FaultyModel({}, calls=1), PAGES) as endpoint:
        engine = ("--profile", "generic", "--endpoint", endpoint.url, *REAL)
        before = await geotts(tmp_path, environment, "locate", photos / "0.jpg", "--json", *engine, "--model", "m")
        arguments = ("--model", "m", "-n", "3", "--photos", photos, "--html", "report.html")
        code, out, err = await geotts(tmp_path, environment, "accept", *engine, *arguments)
        after = await geotts(tmp_path, environment, "locate", photos / "0.jpg", "--json", *engine, "--model", "m")
        other = await geotts(tmp_path, environment, "locate", photos / "0.jpg", "--json", *engine, "--model", "other")
        spoken = await geotts(tmp_path, environment, "locate", photos / "0.jpg", *engine, "--model", "m")
    assert code == 0, out + err
    assert "Nothing wrong was found." in out
    assert "reading the signs in 42 photos" in err
    assert "A calibration fitted to 42 of your photos was installed" in out
    assert "verifier@3 within 25 km" in out
    states = [json.loads(text)["answer"]["calibration"] for _, text, _ in (before, after, other)]
    assert [state["state"] for state in states] == ["transferred", "fitted", "transferred"]
    assert states[1]["photos"] == 42
    assert states[1]["origin"].startswith("geotts accept, n = 3, 42 photos")
    assert "very probably within" in spoken[1], "the radii are stated as fitted ones"
    assert "transferred" not in spoken[1]
    report = (tmp_path / "report.html").read_text()
    assert "A calibration fitted to 42 of your photos" in report


async def test_geotts_accept_with_too_few_photos_fits_no_calibration_and_says_so(data_store, environment, tmp_path):
    photos = labelled_photos(tmp_path / "photos", 5)
    async with serving(FaultyModel({}, calls=1), PAGES) as endpoint:
        code, out, _ = await accept(tmp_path, environment, endpoint.url, "-n", "2", "--photos", photos)
    assert code == 0
    assert "5 of your 5 labelled photos have an answer with a point, and it takes at least 40" in out
    assert "say `calibration: transferred`" in out
    assert not (tmp_path / "calibrations").exists()


async def test_geotts_accept_continues_after_a_kill_and_locates_no_photo_twice(data_store, environment, tmp_path):
    async with serving(FaultyModel({}, calls=1), PAGES) as endpoint:
        arguments = ("--profile", "generic", "--endpoint", endpoint.url, "--model", "m", *QUICK, "--concurrency", "1")
        process = await start(tmp_path, environment, "accept", *arguments, "--out", "run.jsonl")
        run = tmp_path / "run.jsonl"
        async with asyncio.timeout(60):
            while not (run.exists() and len(run.read_bytes().splitlines()) >= 2):  # noqa: ASYNC110  another process
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        await process.communicate()
        done = run.read_bytes().count(b"\n")
        code, out, err = await geotts(tmp_path, environment, "accept", *arguments, "--out", "run.jsonl", "--json")
    assert f"10 photos, {done} done before" in err
    found = json.loads(out)
    assert (code, found["findings"][0]["about"]) == (3, "same_place"), "it always says Otaru"
    samples = [json.loads(line)["sample"] for line in run.read_text().splitlines()]
    assert len(samples) == len(set(samples)) == found["photos"] == 10


async def test_geotts_accept_locates_the_remaining_photos_when_repeated_after_its_time(
    data_store, environment, tmp_path
):
    async with serving(FaultyModel({}, calls=1), PAGES) as endpoint:
        code, out, err = await accept(tmp_path, environment, endpoint.url, "--minutes", "0.001", "--concurrency", "1")
        assert (code, "no photo was located" in err) == (1, True)
        code, out, err = await accept(tmp_path, environment, endpoint.url, "--json")
    assert (code, json.loads(out)["left"]) == (3, 0), err


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", None])
async def test_an_endpoint_that_cannot_be_used_ends_with_1_and_its_reason(data_store, environment, tmp_path, url):
    async with serving(refuse_model, PAGES) as endpoint:
        code, out, err = await accept(tmp_path, environment, url or endpoint.url, "--json")
    assert (code, out) == (1, "")
    assert "the engine could not be run" in err
    assert ("does not exist" in err) == (url is None)
    assert len(endpoint.bodies) <= (3 + 2) * 8, "three photos in vain, and two were under way"


async def test_an_endpoint_is_asked_once_before_the_first_photo(data_store, environment, tmp_path):
    dead = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
    code, _, err = await geotts(tmp_path, environment, "accept", *dead)
    assert code == 1
    assert "http://127.0.0.1:9/v1: ConnectError: start it, or name another with --endpoint" in err
    two = {"/v1/models": {"data": [{"id": "gpt-chat"}, {"id": "other"}]}}
    async with serving(refuse_model, two) as endpoint:
        code, _, err = await geotts(tmp_path, environment, "accept", "--endpoint", endpoint.url)
    assert code == 2
    assert "lists 2 models: name one with --model (gpt-chat, other)" in err
    assert not endpoint.bodies
    assert not (tmp_path / "runs").exists(), "no photo was begun"


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ((), "the money limit cannot be kept: no price is known for this model (set engine.price)"),
        (("--set", "engine.price={input: 1, output: 2}"), "it may cost up to 5.00 US dollars"),
    ],
)
async def test_geotts_accept_states_its_greatest_cost_or_that_no_price_is_known(
    data_store, environment, tmp_path, price, words
):
    async with serving(refuse_model, PAGES) as endpoint:
        hosted = ("--profile", "hosted", "--endpoint", endpoint.url, "--model", "m", *QUICK)
        code, _, err = await geotts(tmp_path, environment, "accept", *hosted, *price)
    assert (code, words in " ".join(err.split())) == (1, True), err
    assert ("it may cost" in err) == bool(price)


async def test_a_model_whose_context_is_too_short_is_reported_with_its_setting(data_store, environment, tmp_path):
    async with serving(FaultyModel({"context": 1}), PAGES) as endpoint:
        code, out, _ = await accept(tmp_path, environment, endpoint.url)
    assert code == 3
    assert "were longer than the engine's context" in out
    assert "--max-model-len" in out
