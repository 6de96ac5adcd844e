"""The method card of a made-up run, by the command line: every figure on it is known beforehand."""

import json

import pytest
from click.testing import CliRunner
from support.made_answers import an_answer

from deployments.cli import cli
from tts.domain.answer import Candidate, Radius, RolloutStatus, StopReason
from tts.domain.geo import LatLon, destination
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import Usage
from tts.eval.runs.record import Record
from tts.eval.sample import Truth

PARIS = LatLon(lat=48.857, lon=2.352)
TOKYO = LatLon(lat=35.68, lon=139.76)


def a_record(number, truth, error_km, *, confidence=0.5, tags=(), sources=("", ""), **more):
    """An answer this far off with radii of 10 and 100 km; an abstention for None. One rollout for each source."""
    away = destination(truth, bearing_deg=90, distance_km=error_km or 0.0)
    update = {"lat": away.lat, "lon": away.lon, "radius_km": Radius(p50=10.0, p90=100.0), "confidence": confidence}
    if error_km is None:
        update |= {"lat": None, "lon": None, "radius_km": None, "abstained": True}
    update["rollouts"] = tuple(
        RolloutStatus(rollout_id=i, stop_reason=StopReason.ANSWERED, answered=True, source=source)
        for i, source in enumerate(sources)
    )
    usage = Usage(prompt_tokens=900, completion_tokens=100 + number, cost_usd=0.02)
    return Record(
        dataset="made",
        sample=f"s{number}",
        tags=tags,
        truth=Truth(point=truth),
        options=LocateOptions(),
        elapsed_s=float(number),
        answer=an_answer(usage=usage, **update),
    ).model_copy(update=more)


def with_support(record, *rollouts):
    """The same record, with the rollouts that agree with its answer."""
    answer = record.answer
    candidate = Candidate(lat=answer.lat, lon=answer.lon, radius_km=answer.radius_km, support=0.8, rollouts=rollouts)
    return record.model_copy(update={"answer": answer.model_copy(update={"candidates": (candidate,)})})


@pytest.fixture
def run_file(tmp_path):
    """Four answers in Europe, of which the surest two are right; one abstention and one failure in Asia."""
    records = [
        a_record(1, PARIS, 1.5, confidence=0.9, tags=("with text",)),
        a_record(2, PARIS, 20.0, confidence=0.8),
        a_record(3, PARIS, 60.0, confidence=0.6),
        a_record(4, PARIS, 3000.0, confidence=0.1),
        a_record(5, TOKYO, None),
        a_record(6, TOKYO, 0.0, failure="the engine is down", answer=None),
    ]
    path = tmp_path / "made.jsonl"
    path.write_bytes(b"\n".join(record.json_line() for record in records) + b"\n")
    return path


def card(*arguments):
    done = CliRunner().invoke(cli, ["eval", "card", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_method_card_of_a_made_up_run_has_the_known_figures(run_file, data_store):
    found = json.loads(card(run_file, "--json"))
    whole, parts = found["whole"], {part["name"]: part for part in found["by_continent"]}
    assert (whole["n"], whole["failed"]) == (6, 1)
    assert whole["abstained"]["value"] == pytest.approx(20.0)
    assert [share["value"] for share in whole["within"]] == pytest.approx([0.0, 40.0, 60.0, 60.0, 60.0])
    assert whole["median_km"] == pytest.approx(40.0, abs=0.1)
    assert (whole["cover50"]["value"], whole["cover90"]["value"]) == (25.0, 75.0)
    assert whole["radius90_median_km"] == 100.0
    assert (parts["Europe"]["n"], parts["Asia"]["n"]) == (4, 2)
    assert parts["Asia"]["cover90"] is None
    assert found["by_tag"] == []
    assert found["cost"]["n"] == 5
    assert found["cost"]["tokens"]["value"] == pytest.approx(1003.0)
    assert (found["cost"]["p50_s"], found["cost"]["usd"]["value"]) == (3.0, pytest.approx(0.02))


def test_an_answer_as_near_as_the_truth_is_known_is_within_every_distance(tmp_path, data_store):
    """As `geotts eval report` and the benchmarks count it."""
    truth = Truth(point=PARIS, accuracy_radius_m=3000)
    path = tmp_path / "rough.jsonl"
    rough = [a_record(number, PARIS, km).model_copy(update={"truth": truth}) for number, km in ((1, 2.5), (2, 3.5))]
    records = [*rough, a_record(3, PARIS, 2.5)]
    path.write_bytes(b"\n".join(record.json_line() for record in records) + b"\n")
    within = json.loads(card(path, "--json"))["whole"]["within"]
    assert within[0]["value"] == pytest.approx(100 / 3)


def test_a_tag_has_a_row_where_enough_photos_but_not_all_have_it(tmp_path, data_store):
    kinds = [("every", "many", "few"), ("every", "many"), ("every",)]
    tags = [kinds[0]] * 5 + [kinds[1]] * 25 + [kinds[2]] * 3
    path = tmp_path / "tagged.jsonl"
    path.write_bytes(b"\n".join(a_record(i, PARIS, 1.0, tags=tag).json_line() for i, tag in enumerate(tags)) + b"\n")
    assert [(part["name"], part["n"]) for part in json.loads(card(path, "--json"))["by_tag"]] == [("many", 30)]


def test_risk_grows_with_coverage_and_ends_where_only_abstentions_are_left(run_file, data_store):
    curve = json.loads(card(run_file, "--json"))["risk_coverage"]
    shown = [(point["coverage"], point["n"], point["risk"]["value"]) for point in curve]
    assert shown == [(0.2, 1, 0.0), (0.4, 2, 0.0), (0.6, 3, pytest.approx(100 / 3)), (0.8, 4, 50.0)]
    assert [point["confidence"] for point in curve] == [0.9, 0.8, 0.6, 0.1]
    assert all(point["risk"]["low"] <= point["risk"]["value"] <= point["risk"]["high"] for point in curve)


def test_the_method_card_states_its_command_and_notes_and_shows_its_picture(run_file, data_store, tmp_path):
    out = tmp_path / "method-card.md"
    card(f"my <run>={run_file}", "-o", out, "--note", "Tests ran beside it.", "--note", "Recorded on a Monday.")
    page, picture = out.read_text(), (tmp_path / "method-card.svg").read_text()
    assert "by `geotts eval card 'my <run>=made.jsonl' -o method-card.md`" in page
    assert (
        "\n\nTests ran beside it.\n\nRecorded on a Monday.\n\n![Risk and coverage of every run](method-card.svg)"
        in page
    )
    assert "\nWanted radius: 25 km. Radii and confidence: those of the answers of the service.\n" in page
    assert "| all | 6 | 1 | 20.0 [3.6, 62.4] |" in page
    assert "\nKind of N: samples of one policy, 2 a photo.\n" in page
    assert "my &lt;run&gt;" in picture
    assert picture.count("<polyline") == 1
    assert str(tmp_path) not in page


@pytest.mark.parametrize(
    ("sources", "kind"),
    [
        ([("",)], "one sample of one policy"),
        ([("", "", "", "")], "samples of one policy, 4 a photo"),
        ([("small", "small", "large")], "a mixture of models, 3 a photo"),
        ([("small", "large"), ("small", "large", "large")], "a mixture of models, 2 to 3 a photo"),
        (
            [("", "")] * 2 + [("a", "b")],
            "samples of one policy, 2 a photo (photos: 2); a mixture of models, 2 a photo (photos: 1)",
        ),
        ([()], "not recorded in this run"),
    ],
)
def test_the_card_says_which_kind_of_n_its_figures_are_about(sources, kind, tmp_path, data_store):
    path = tmp_path / "made.jsonl"
    records = [a_record(i, PARIS, 1.0, sources=each) for i, each in enumerate(sources)]
    path.write_bytes(b"\n".join(record.json_line() for record in records) + b"\n")
    assert json.loads(card(path, "--json"))["kind_of_n"] == kind
    assert f"\nKind of N: {kind}.\n" in card(path)


def test_the_answers_of_published_logs_are_those_of_the_consensus(tmp_path, data_store):
    logs = tmp_path / "logs"
    logs.mkdir()
    for system, lat in (("a", 48.857), ("b", 48.86), ("c", -33.9)):
        stated = json.dumps({"lat": lat, "lon": 2.352, "city": "Paris", "country": "France"})
        rows = [{"index": i, "ground_truth": {"lat": 48.857, "lon": 2.352}, "solution_str": stated} for i in range(3)]
        (logs / f"{system}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = json.loads(card(logs, "--json"))
    assert (found["whole"]["n"], found["whole"]["within"][1]["value"], found["cost"]) == (3, 100.0, None)
    assert "IMAGEO-2" in found["origin"]
    assert found["origin"].endswith("(kind of N: a mixture of models)")
    assert found["kind_of_n"] == "a mixture of models, 3 a photo"
    assert [(row["name"], row["n"]) for row in found["by_model"]] == [("a", 3), ("b", 3)]  # c is elsewhere


def test_a_mixture_has_a_row_for_each_model_that_agrees_with_answers(tmp_path, data_store):
    both = ("large", "small")
    records = [
        with_support(a_record(1, PARIS, 1.5, sources=both), 0, 1),
        with_support(a_record(2, PARIS, 200.0, sources=both), 1),
        a_record(3, TOKYO, None, sources=both),
    ]
    path = tmp_path / "mixture.jsonl"
    path.write_bytes(b"\n".join(record.json_line() for record in records) + b"\n")
    rows = {row["name"]: row for row in json.loads(card(path, "--json"))["by_model"]}
    assert {name: (row["n"], row["cover90"]["value"]) for name, row in rows.items()} == {
        "large": (1, 100.0),
        "small": (2, 50.0),
    }
    assert "### By model" in card(path)


def test_a_mixture_has_the_cost_of_a_rollout_of_each_model(tmp_path, data_store):
    def rollout(i, source, tokens, usd):
        return Trajectory(rollout_id=i, source=source, usage=Usage(prompt_tokens=tokens, cost_usd=usd))

    rollouts = {
        0: rollout(0, "large", 3000, 0.06),
        1: rollout(1, "small", 900, 0.001),
        2: rollout(2, "small", 1100, 0.003),
    }
    record = a_record(1, PARIS, 1.5, sources=("large", "small", "small"))
    path = tmp_path / "mixture.jsonl"
    path.write_bytes(record.model_copy(update={"run": Run(rollouts=rollouts)}).json_line() + b"\n")
    costs = {row["model"]: row for row in json.loads(card(path, "--json"))["cost_by_model"]}
    assert {name: (row["n"], row["tokens"]["value"], row["usd"]["value"]) for name, row in costs.items()} == {
        "large": (1, 3000.0, pytest.approx(0.06)),
        "small": (2, 1000.0, pytest.approx(0.002)),
    }
    assert "| small | 2 | 1000 [" in card(path)


def test_samples_of_one_policy_have_no_rows_by_model(tmp_path, data_store):
    path = tmp_path / "samples.jsonl"
    path.write_bytes(with_support(a_record(1, PARIS, 1.5, sources=("one", "one")), 0, 1).json_line() + b"\n")
    found = json.loads(card(path, "--json"))
    assert found["by_model"] == found["cost_by_model"] == []
    assert "### By model" not in card(path)
