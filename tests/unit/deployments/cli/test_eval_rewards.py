"""`geotts eval rewards` and the released readers of `geotts eval score`, by the command line."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks

from deployments.cli.eval import command
from tts.dialects.released.imported_texts import ImportedTexts
from tts.eval.rewarding.systems import SYSTEMS

TRUTH = {"lat": 10.0, "lon": 20.0, "city": "Town", "country": "Land"}
REASON = "r" * 250
CHAIN = {
    name: {"Clues": [], "Reasoning": REASON, "Conclusion": conclusion}
    for name, conclusion in zip(
        ("CountryIdentification", "RegionalGuess", "PreciseLocalization"), ("Land", "Region", "Town"), strict=True
    )
}
GEOAGENT = f"<think>{json.dumps({'ChainOfThought': CHAIN})}</think><answer>Land; Region; Town</answer>"


def _run(tmp_path: Path, rows: list[dict], *arguments: str):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(command, [*arguments[:1], str(file), *arguments[1:]])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_its_released_reward_on_the_command_line(tmp_path, system):
    text = '{"lat": 10, "lon": 20, "city": "Town", "country": "Land"}'
    (made,) = _run(tmp_path, [{"response": text, "ground_truth": TRUTH}], "rewards", "--system", system)
    assert made["system"] == system
    assert (made["reward"] is None) == bool(made["missing"])


def test_rows_get_the_reward_of_their_system(tmp_path):
    answer = "<think>t</think><answer>Land, Town, 10.0, 20.0</answer>"
    row = {"id": "a", "response": answer, "ground_truth": TRUTH, "tool_rewards": [0.2, 0.3]}
    (made,) = _run(tmp_path, [row], "rewards", "--system", "reverse")
    assert made["reward"] == pytest.approx(0.6 + 0.08 + 0.15)
    assert made["parts"]["as_scripted"] == pytest.approx(0.75)
    (made,) = _run(tmp_path, [{"id": "a", "shares": {"6": 0.5}}], "rewards", "--system", "georeasoner")
    assert made["reward"] == pytest.approx(0.5)


def test_geovista_has_a_distance_on_its_own_sphere_if_the_answer_was_looked_up(tmp_path):
    places = tmp_path / "places.json"
    places.write_text(json.dumps({"Town, Land": [10.0, 21.0]}))
    row = {"id": "a", "response": "<think>t</think><answer>Town, Land</answer>", "ground_truth": TRUTH}
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geovista", "--geocoded", str(places))
    assert made["parts"]["km"] == pytest.approx(109.505789, abs=1e-4)
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geovista")
    assert "km" not in made["parts"]


def test_geoagent_lists_the_missing_tables_that_only_the_user_has(tmp_path):
    row = {"id": "a", "response": GEOAGENT, "ground_truth": TRUTH}
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geoagent")
    assert made["reward"] is None
    assert len(made["missing"]) == 3
    places, alike, reread = (tmp_path / name for name in ("places.json", "alike.json", "reread.jsonl"))
    places.write_text(json.dumps({"Land; Region; Town": [10.0, 20.0]}))
    alike.write_text(json.dumps({"Land | Land": 1, "Region | Town": 0.4}))
    reread.write_text(json.dumps({"sample": "a", "conclusions": ["Land", "Region", "Elsewhere"]}))
    tables = ["--geocoded", str(places), "--similarities", str(alike), "--conclusions", str(reread)]
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geoagent", *tables)
    assert made["parts"] == pytest.approx(
        {"format": 1.0, "geo_format": 1.0, "names": 0.34, "consistency": 0.7, "spatial": 1.0}
    )
    assert made["reward"] == pytest.approx(1 + 1 + 0.34 + 0.35 + 1.5)


@pytest.mark.parametrize(
    ("parser", "text", "hit"),
    [
        ("reverse", "<answer>Land, Town, 10.0, 20.0</answer>", 100.0),
        ("reverse", "<answer>10.0, 20.0, Land, Town</answer>", 0.0),
        ("reverse_reward", "<answer>10.0, 20.0, Land, Town</answer>", 100.0),
        ("verifier", '{"lat": 10.0, "lon": 20.0,}', 100.0),
        ("paper", '{"lat": 10.0, "lon": 20.0,}', 0.0),
        ("spotagent", "<answer>\nCountry: Land\nCity: Town\nLatitude: 10.0\nLongitude: 20.0\n</answer>", 100.0),
        ("geo_adapt", "<answer>\nCountry: Land\nCity: Town\nEstimated Coordinates: 10.0, 20.0\n</answer>", 100.0),
        ("geoagent", "<answer>Land; Region; Town</answer>", 0.0),
    ],
)
def test_each_system_has_its_own_reader(tmp_path, parser, text, hit):
    (made,) = _run(tmp_path, [{"response": text, "ground_truth": TRUTH}], "score", "--parser", parser)
    assert made["acc"][0] == hit


def test_names_are_scored_by_place_or_by_level(tmp_path):
    places = tmp_path / "places.json"
    places.write_text(json.dumps({"Land; Region; Town": [10.0, 20.0]}))
    row = {"response": "<answer>Land; Region; Town</answer>", "ground_truth": TRUTH}
    (made,) = _run(tmp_path, [row], "score", "--parser", "geoagent", "--geocoded", str(places))
    assert (made["acc"][0], made["reward"]) == (100.0, 1.0)
    (made,) = _run(tmp_path, [{**row, "response": "Somewhere in Land."}], "score", "--parser", "geovista")
    assert made["levels"] == {"country": 100.0, "state": 0.0, "city": 0.0}


def test_difficulty_is_read_from_zero_shot_logs(tmp_path):
    def log(name, *points):
        file = tmp_path / name
        rows = [
            {"index": i, "ground_truth": TRUTH, "solution_str": json.dumps({**TRUTH, "lat": lat})}
            for i, lat in enumerate(points)
        ]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(file)

    logs = [log("a.jsonl", 10.0, 10.0, 50.0), log("b.jsonl", 10.01, 50.0, 50.0), log("c.jsonl", 10.0, 50.0, 10.0)]
    out = tmp_path / "parts.jsonl"
    done = CliRunner().invoke(command, ["parts", *logs, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["part"] for line in out.read_text().splitlines()] == ["easy", "hard", "hard"]
    done = CliRunner().invoke(command, ["parts", *logs, "--hits", "1"])
    assert [json.loads(line)["part"] for line in done.stdout.splitlines()] == ["easy"] * 3


async def test_a_second_reader_concludes_stage_by_stage(tmp_path, monkeypatch):
    """It gets the reasoning and the conclusions before, and has to echo the id."""
    asked, prompts = [], set()

    def play(request, number):
        prompts.add(request["messages"][0]["content"])
        content = request["messages"][-1]["content"]
        question = json.loads(content if isinstance(content, str) else content[0]["text"])
        asked.append(question)
        wrong = question["stage"] == "PreciseLocalization"
        return text_chunks(json.dumps({"id": "another" if wrong else question["id"], "Conclusion": f"C{len(asked)}"}))

    row = {"id": "a", "response": GEOAGENT, "ground_truth": TRUTH}
    ImportedTexts(texts={"consistency_system": "Read it again."}).write(tmp_path / "profiles" / "geoagent")
    monkeypatch.setenv("GEOTTS_PROFILES", str(tmp_path / "profiles"))
    run, out = tmp_path / "rows.jsonl", tmp_path / "reread.jsonl"
    run.write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": "b", "response": "no chain"}) + "\n")
    async with an_endpoint(play) as endpoint:
        engine = f'engine={{"name": "openai", "base_url": "{endpoint.url}", "model": "m"}}'
        done = await asyncio.to_thread(
            CliRunner().invoke, command, ["reread", str(run), str(out), "--set", engine], catch_exceptions=False
        )
    assert done.exit_code == 0, done.output
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"sample": "a", "rollout": 0, "conclusions": ["C1", "C2", None]}
    ]
    assert prompts == {"Read it again."}
    assert asked[2]["Previous conclusion"] == {"CountryIdentification": "Land", "RegionalGuess": "Region"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_the_reward_of_its_paper_on_the_command_line(tmp_path, system):
    text = '{"lat": 10, "lon": 20, "city": "Town", "country": "Land"}'
    (made,) = _run(
        tmp_path, [{"response": text, "ground_truth": TRUTH}], "rewards", "--system", system, "--form", "paper"
    )
    assert (made["reward"] is None) == bool(made["missing"])


def test_the_papers_rewards_differ_from_those_of_the_code(tmp_path):
    answer = "<think>t</think><answer>Land, Town, 10.0, 20.0</answer>"
    use = {"image_search_ious": [0.8, 0.6], "valid_text_queries": 2, "useful_tagged": [True], "useful_true": [True]}
    row = {"id": "a", "response": answer, "ground_truth": TRUTH, "tool_use": use, "tool_rewards": [0.2]}
    (paper,) = _run(tmp_path, [row], "rewards", "--system", "reverse", "--form", "paper")
    assert paper["parts"]["tools"] == pytest.approx(0.2 * 0.8 + 0.2)
    assert paper["reward"] == pytest.approx(0.6 + 0.1 * 0.8 + 0.3 * 0.36)
    (code,) = _run(tmp_path, [row], "rewards", "--system", "reverse")
    assert code["reward"] == pytest.approx(0.6 + 0.08 + 0.3 * 0.2)
    loose = {"response": '{"lat": 10, "lon": 20, "city": "Town", "country": "Land",}', "ground_truth": TRUTH}
    (made,) = _run(tmp_path, [loose], "rewards", "--system", "thinking_with_map", "--form", "paper")
    assert made["reward"] == 0.0


def test_geoagents_paper_weighs_three_terms(tmp_path):
    row = {"id": "a", "response": GEOAGENT, "ground_truth": TRUTH}
    places, alike, reread = (tmp_path / name for name in ("places.json", "alike.json", "reread.jsonl"))
    places.write_text(json.dumps({"Land; Region; Town": [10.0, 20.0]}))
    alike.write_text(json.dumps({"Land | Land": 1, "Region | Town": 0.6, "Town | ": 0.5}))
    reread.write_text(json.dumps({"sample": "a", "conclusions": ["Land", "Regions", "Elsewhere"]}))
    tables = ["--geocoded", str(places), "--similarities", str(alike), "--conclusions", str(reread)]
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geoagent", "--form", "paper", *tables)
    parts = made["parts"]
    assert parts["spatial"] == 1.0
    assert parts["semantic"] == pytest.approx(0.1 + 0.6 * 0.6 + 0.3 * 0.5)
    assert 0.0 < parts["consistency"] < 0.7
    assert made["reward"] == pytest.approx(1.5 + parts["semantic"] + 0.5 * parts["consistency"])


def test_fields_that_a_row_lacks_are_read_from_the_file_given(tmp_path):
    answer = "Country: Land\nCity: Town\nEstimated Coordinates: 10.0, 20.0"
    text = f"<depth>deep</depth><think>t</think><answer>\n{answer}\n</answer>"
    given = tmp_path / "given.jsonl"
    fields = {"reason_km": 300, "retrieval_km": 20, "entities": {"tower": 0.8, "tram": 0.6}, "reference": ["tower"]}
    judged = {"judge_says": {"state_correct": True}}
    given.write_text(json.dumps({"sample": "a", **fields, **judged}) + "\n")
    row = {"id": "a", "response": text, "ground_truth": TRUTH}
    (made,) = _run(tmp_path, [row], "rewards", "--system", "geo_adapt", "--given", str(given))
    assert made["parts"]["depth"] == 1.0
    assert made["parts"]["grounding"] == pytest.approx(0.7 * 0.5)
    assert made["parts"]["reasoning"] == pytest.approx(0.5 + 0.5 * 0.35)
    assert made["reward"] == pytest.approx(1.0)
    (plain,) = _run(tmp_path, [row], "rewards", "--system", "geo_adapt")
    assert (plain["parts"]["reasoning"], plain["reward"]) == (None, made["reward"])
    (vista,) = _run(tmp_path, [row], "rewards", "--system", "geovista", "--given", str(given))
    assert vista["parts"]["judged"] == {"country": True, "state": True, "city": False}


def test_photos_worth_training_on_are_those_that_only_some_rollouts_place(tmp_path):
    rows = [{"id": "a", "response": _spot(lat, 20.0), "ground_truth": TRUTH} for lat in (10.0, 10.1, 40.0)] + [
        {"id": "b", "response": _spot(10.0, 20.0), "ground_truth": TRUTH} for _ in range(2)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(command, ["rewards", str(file), "--system", "spotagent"])
    assert done.exit_code == 0, done.output
    made = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["parts"]["worth_training_on"] for one in made] == [True, False, False, True, True]
    assert "photos worth training on, of 2: 1 km 1, 25 km 1, 200 km 1, 750 km 1" in " ".join(done.stderr.split())


def _spot(lat, lon):
    return f"<answer>\nCountry: Land\nCity: Town\nLatitude: {lat}\nLongitude: {lon}\n</answer>"
