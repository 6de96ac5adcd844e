"""Benchmarks say which kind of N their rollouts are: samples of one policy, or a mixture of models."""

import json

import pytest
import yaml
from click.testing import CliRunner
from support.basics import sign_bytes

from deployments.cli import cli
from geotts_benchmarks.depth_and_stops import depth, depth_leader, first_calls

LISBON = {"lat": 38.7223, "lon": -9.1393}
OSAKA = {"lat": 34.6937, "lon": 135.5023}
ONE_POLICY = "samples of one policy, 2 a photo"
MIXTURE = "a mixture of models, 2 a photo"
LOGS = "a mixture of models, recorded without tools, one answer of each"


def engine(tmp_path, name, place):
    """An engine that answers one place without tools."""
    tape = tmp_path / f"{name}.jsonl"
    tape.write_text(json.dumps({"turn": 0, "text": json.dumps({**place, "city": "", "country": ""})}))
    return {"name": "scripted", "tape": str(tape), "turn_s": 0.0}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "0.jpg").write_bytes(sign_bytes("Lisboa"))
    label = {"file": "0.jpg", **LISBON, "country": "Portugal", "has_legible_text": True}
    (folder / "labels.jsonl").write_text(json.dumps(label))
    return folder


def bench(*arguments):
    done = CliRunner().invoke(cli, ["bench", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("mixture", [False, True])
def test_photos_name_the_kind_of_n_of_the_engines_that_answered(tmp_path, photos, data_store, mixture):
    west, east = engine(tmp_path, "west", LISBON), engine(tmp_path, "east", OSAKA)
    engines = {"engines": [{"name": "west", "engine": west}, {"name": "east", "engine": east}]}
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"routing": {"method": "fixed"}, **(engines if mixture else {"engine": west})}))
    found, progress = bench("photos", "--photos", photos, "--n", "1,2", "--config", config)
    kind = MIXTURE if mixture else ONE_POLICY
    assert found["gain"]["kind_of_n"] == kind
    assert [found["by_n"][n]["kind_of_n"] for n in ("1", "2")] == ["one sample of one policy", kind]
    answered = found["by_n"]["2"]["acc_25"]
    text = " ".join(progress.split())
    assert f"n=2: within 25 km are the answers to {answered:.1f} % of the photos, and at least one rollout of" in text
    assert f"of 100.0 % (best_of_n_25). Kind of N: {kind}" in text


def logs(folder):
    folder.mkdir()
    for name, place in (("one", LISBON), ("two", OSAKA), ("three", LISBON)):
        answer = json.dumps({**place, "city": "", "country": ""})
        rows = [{"index": i, "ground_truth": LISBON, "solution_str": answer} for i in range(4)]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def test_recorded_logs_are_a_mixture(tmp_path, data_store):
    found, _ = bench("depth", "--part", "logs", "--logs", logs(tmp_path / "logs"), "--quick")
    assert found["kind_of_n"] == {"logs": LOGS}


def test_embedded_photos_of_depth_are_samples_of_one_policy(photos, data_store):
    found, _ = bench("depth", "--part", "photos", "--photos", photos)
    assert "samples of one policy" in found["kind_of_n"]["photos"]


def test_scripted_parts_of_depth_are_samples_of_one_policy(monkeypatch, data_store):
    async def nothing(*_):
        return {}

    async def no_waits(ticks, *_):
        return [1.0] * len(ticks)

    monkeypatch.setattr(depth, "_answer_times_s", no_waits)
    monkeypatch.setattr(depth_leader, "leader_figures", nothing)
    monkeypatch.setattr(first_calls, "_measure_scripted", nothing)
    monkeypatch.setattr(first_calls, "_measure_embedded", nothing)
    for part in ("time", "leader", "first_calls"):
        found, _ = bench("depth", "--part", part, "--quick")
        assert found["kind_of_n"].keys() == {part}
        assert "samples of one policy" in found["kind_of_n"][part]
