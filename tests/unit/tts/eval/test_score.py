import contextlib
import csv
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.errors import DataError
from tts.eval.answer_parsers import parse_paper, parse_serving
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.score import ScoreOptions, score_file, score_rows
from tts.geodata.countries import Countries

ANSWER = '{"lat": 48.85, "lon": 2.35, "city": "Paris", "country": "France"}'


def rows_of(*answers, truth=(48.85, 2.35)):
    place = {"lat": truth[0], "lon": truth[1], "city": "Paris", "country": "France"}
    return [{"index": i, "ground_truth": place, "solution_str": text} for i, text in enumerate(answers)]


def test_the_paper_parser_takes_true_for_1_as_the_released_scorer_does():
    assert parse_paper(ANSWER.replace("48.85", "true")).point.lat == 1.0


def test_the_first_strict_object_with_all_keys_is_the_paper_answer():
    later = ANSWER.replace("48.85", "10")
    assert parse_paper(f"a {{set}} of clues {{'x': 1}} then {ANSWER} or {later}").point.lat == 48.85
    assert parse_paper(f'{{"lat": 1, "lon": 2}} {ANSWER}').city == "Paris"


@pytest.mark.parametrize(
    "text",
    [
        "", "no answer", '{"lat": 48.85, "lon": 2.35}', ANSWER.replace('"Paris"', "Paris"), ANSWER.replace("}", ",}"),
        ANSWER.replace("48.85", "null"), ANSWER.replace("48.85", "NaN"), ANSWER.replace("48.85", "95"),
        "{" + ANSWER, "} " + ANSWER[:-1],
    ],
)  # fmt: skip
def test_the_paper_parser_refuses_malformed_and_impossible_answers(text):
    assert parse_paper(text) is None


def test_numeric_strings_and_turned_longitudes_are_numbers():
    assert parse_paper(ANSWER.replace("48.85", '"48.85"')).point.lat == 48.85
    assert parse_paper(ANSWER.replace("2.35", "362.35")).point.lon == pytest.approx(2.35)


def test_the_serving_parser_forgives_form_and_takes_the_last_word():
    assert parse_serving(ANSWER.replace("}", ",}")).point.lat == 48.85
    assert parse_serving(ANSWER + ANSWER.replace("48.85", "10")).point.lat == 10
    assert parse_serving('{"lat": null, "lon": null}') is None


def test_unparsed_rows_are_wrong_at_every_threshold():
    score = score_rows(rows_of(ANSWER, "no idea", ANSWER.replace("48.85", "49.0")), "x", ScoreOptions())
    assert (score.n, score.unparsed) == (3, 1)
    assert score.acc == (33.33, 33.33, 33.33, 66.67, 66.67, 66.67)
    assert score.acc_classic == (33.33, 66.67, 66.67, 66.67, 66.67)
    assert score.coverage == 66.67


def test_names_are_compared_where_the_truth_has_them():
    rows = rows_of(ANSWER, ANSWER, "no idea")
    rows[1]["ground_truth"] = {"lat": 48.85, "lon": 2.35}
    options = ScoreOptions(names=PlaceNames(Countries()))
    assert (score_rows(rows, "x", options).country, score_rows(rows, "x", options).city) == (50.0, 50.0)
    assert score_rows(rows[1:2], "x", options).country is None


def test_datums_are_converted_before_distances_are_taken():
    """A truth in GCJ-02 and an answer in WGS-84 that mean one spot in Beijing, half a kilometre apart as written."""
    truth = (39.91334545536069, 116.38404722455657)
    text = '{"lat": 39.911954, "lon": 116.377817, "city": "", "country": ""}'
    score = score_rows(rows_of(text, truth=truth), "x", ScoreOptions(datum="GCJ-02"))
    assert score.acc[0] == 100.0
    assert score.acc_as_written is not None
    assert score.acc_as_written[:2] == (0.0, 100.0)
    assert score_rows(rows_of(text, truth=truth), "x", ScoreOptions()).acc_as_written is None


TRUE = {"lat": 48.85, "lon": 2.35}


@pytest.mark.parametrize(
    "row",
    [
        {"ground_truth": TRUE, "solution_str": ANSWER},
        {"truth": json.dumps(TRUE), "response": ANSWER},
        {"reward_model": {"ground_truth": "48.85, 2.35, France, Paris"}, "output": ANSWER},
        {"gt": [48.85, 2.35], "prediction": {"latitude": 48.85, "longitude": 2.35}},
        {"gt_lat": "48.85", "gt_lon": "2.35", "pred_lat": "48.85", "pred_lon": "2.35"},
        {"lat_true": 48.85, "lng_true": 2.35, "lat_pred": 48.85, "lng_pred": 2.35},
        {"ground_truth": TRUE, "lat": 48.85, "lon": 2.35},
        {"true_lat": 48.85, "true_lon": 2.35, "lat": 48.85, "lon": 2.35, "city": "Paris"},
        {"gt_lat": 48.85, "gt_lon": 2.35, "pred_lat": 48.85, "pred_lon": 2.35, "text": "a caption"},
        {"LAT": 48.85, "LON": 2.35, "predicted_lat": 48.85, "predicted_lng": 2.35},
        {"metadata": json.dumps({"lat": 48.85, "lng": 2.35}), "model_output": ANSWER},
        {"Latitude": 48.85, "Longitude": 2.35, "messages": [], "response": [{"role": "assistant", "content": ANSWER}]},
    ],
)
def test_rows_in_the_spellings_of_other_authors_are_scored(row):
    score = score_rows([row], "x", ScoreOptions())
    assert (score.unparsed, score.acc[0]) == (0, 100.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [({"solution_str": ANSWER, "id": 1}, "x, row 1 has no true position.*solution_str, id"),
     ({"ground_truth": TRUE, "picture": "a.jpg"}, "x, row 1 has no answer.*ground_truth, picture")],
)  # fmt: skip
def test_a_row_that_cannot_be_scored_is_refused_by_name(row, message):
    with pytest.raises(DataError, match=message):
        score_rows([row], "x", ScoreOptions())


def test_the_same_rows_score_the_same_in_every_file_form(tmp_path):
    table = [{"id": i, "gt_lat": 10 + i, "gt_lon": 20, "pred_lat": 10, "pred_lon": 20 if i else ""} for i in range(5)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, table)) + "\n\n")
    (tmp_path / "a.json").write_text(json.dumps({"results": table}))
    (tmp_path / "b.json").write_text(json.dumps({str(row["id"]): row for row in table}))
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    typed = [row | {"pred_lon": float(row["pred_lon"] or math.nan)} for row in table]
    parquet.write_table(arrow.Table.from_pylist(typed), tmp_path / "a.parquet")
    scores = [score_file(path).model_copy(update={"file": ""}) for path in sorted(tmp_path.iterdir())]
    assert len(scores) == 5
    assert all(score == scores[0] for score in scores)
    assert (scores[0].n, scores[0].unparsed) == (5, 1)


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", "{]"), ("a.jsonl", "[1]"), ("a.json", "3"), ("a.jsonl", "")])
def test_a_file_that_is_no_log_is_refused_by_its_name(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=name):
        score_file(tmp_path / name)


def test_the_published_rows_come_out_to_two_decimals(eval_logs):
    """IMAGEO-2, Thinking with Map, main table: closed and open models without tools at 0.5 2 10 25 200 750 km."""
    published = {
        "gpt5": (11.14, 19.91, 28.12, 32.62, 50.62, 72.78),
        "o3": (9.66, 18.76, 27.41, 30.85, 47.06, 67.04),
        "qwen3vl235b": (1.78, 5.66, 11.88, 15.76, 34.07, 62.38),
        "qwen3vl30b": (1.11, 3.22, 8.77, 12.99, 34.52, 65.82),
    }
    found = {path.stem.rsplit("_", 1)[1]: score_file(path).acc for path in sorted(eval_logs.glob("*.jsonl"))}
    assert found == published


PIECES = [
    "{", "}", '"', " ", "a", "{}", '{"a": {}}', ANSWER, ANSWER[:-1], ANSWER[1:], ANSWER.replace("}", ",}"), "\n", "\\",
    '{"lat": 1, "lon": 2, "city": "{", "country": "x"}',
    '{"lat": 1, "lon": 2, "city": "a", "country": "b", "c": {}}',
]  # fmt: skip
fragments = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(fragments)
def test_the_fast_paper_parser_equals_the_plain_one(text):
    """Count braces character by character, try every balanced piece, take the first that has the four keys."""
    expected, depth, start = None, 0, 0
    for at, char in enumerate(text):
        if char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and expected is None:
                with contextlib.suppress(ValueError):
                    value = json.loads(text[start : at + 1])
                    expected = value if {"lat", "lon", "city", "country"} <= value.keys() else None
    found = parse_paper(text)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found.point.lat, found.city) == (expected["lat"], expected["city"])


def test_a_table_of_positions_has_no_reward_of_texts():
    assert score_rows([{"gt": [1, 2], "pred_lat": 1, "pred_lon": 2}], "x", ScoreOptions()).reward is None
    assert score_rows(rows_of(ANSWER), "x", ScoreOptions()).reward == 1.0


@pytest.mark.parametrize(
    ("answer", "abstained"),
    [
        ({"pred_lat": None, "pred_lon": None}, True),
        ({"pred_lat": "", "pred_lon": "NaN"}, True),
        ({"prediction": None}, True),
        ({"response": " "}, True),
        ({"answer": {"lat": None, "lon": None, "country": "France"}}, True),
        ({"pred_lat": 151.2, "pred_lon": -33.9}, False),
        ({"prediction": [[1, 2], [3, 4]]}, False),
        ({"response": "Paris"}, False),
    ],
)
def test_abstentions_are_told_apart_from_answers_that_could_not_be_read(answer, abstained):
    score = score_rows([{"gt": [1, 2], **answer}], "x", ScoreOptions())
    assert (score.unparsed, score.abstained, score.unreadable) == (1, abstained, () if abstained else (1,))


def test_a_row_that_states_nothing_is_no_answer_for_readers_of_names_either():
    rows = [{"gt": [1, 2], "response": text} for text in (None, "", "Chad")]
    score = score_rows(rows, "x", ScoreOptions(parser="geovista"))
    assert (score.unparsed, score.abstained) == (2, 2)


@pytest.mark.parametrize("answer", [{"lat": 1, "lon": 2}, '{"lat": 1, "lon": 2}', "1, 2"])
def test_an_answer_is_not_compared_with_itself(answer):
    with pytest.raises(DataError, match=r"row 1 has no position but `answer`.*--truth"):
        score_rows([{"image": "1.jpg", "answer": answer}], "x", ScoreOptions())
    assert score_rows([{"lat": 50, "lon": 2, "answer": {"lat": 1, "lon": 2}}], "x", ScoreOptions()).acc[0] == 0.0


@pytest.mark.parametrize("label", ["3/4", "12 34", "4.5/5.0", "1; 2"])
def test_a_label_that_is_no_position_is_not_taken_for_the_truth(label):
    score = score_rows([{"label": label, "lat": 48.85, "lon": 2.35, "response": ANSWER}], "x", ScoreOptions())
    assert score.acc[0] == 100.0


def test_a_pair_with_decimal_commas_is_not_read_as_whole_degrees():
    with pytest.raises(DataError, match="no true position"):
        score_rows([{"gps": "48,85, 2,35", "pred_lat": 48.85, "pred_lon": 2.35}], "x", ScoreOptions())


@pytest.mark.parametrize("stated", [{"pred_lat": 1, "pred_lon": 2}, {"answer": {"lat": 1, "lon": 2}}])
def test_a_guess_in_words_does_not_hide_the_position(stated):
    assert score_rows([{"gt": [1, 2], "guess": "Chad", **stated}], "x", ScoreOptions()).acc[0] == 100.0
