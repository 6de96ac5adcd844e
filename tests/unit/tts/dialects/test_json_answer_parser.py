import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.dialects.json_answer_parser import answer_from_json, json_objects, number
from tts.domain.hypothesis import Level


@pytest.mark.parametrize(
    "written",
    [
        '{"lat": 48.85, "lon": 2.35, "city": "Paris", "country": "France"}',
        'I think so.\n```json\n{"lat": 48.85, "lon": 2.35, "city": "Paris", "country": "France"}\n```',
        "{'lat': 48.85, 'lon': 2.35, 'city': 'Paris', 'country': 'France'}",
        '{"lat": "48.85", "lon": "2.35", "city": "Paris", "country": "France",}',
        "｛“lat”：48.85，“lon”：2.35，“city”：“Paris”，“country”：“France”｝",
        '{"a": {"lat": 1}} then {"latitude": 48.85, "longitude": 2.35, "city": "Paris", "country": "France"} bye',
        'first {"lat": 1, "lon": 1} but then {"lat": 48.85, "lon": 2.35, "city": "Paris", "country": "France"}',
    ],
)
def test_the_same_answer_is_read_from_many_forms(written):
    found = answer_from_json(written)
    assert (found.point.lat, found.point.lon, found.city, found.country) == (48.85, 2.35, "Paris", "France")


@pytest.mark.parametrize(
    "reasoning", ["one line\nand another", "a tab\there", "a sign “{” and more", "\x04", "braces } in {\na line\n."]
)
def test_strings_are_read_with_line_breaks_control_characters_and_braces(reasoning):
    """Models write them as they are, where JSON wants an escape."""
    answer = f'{{"lat": 48.85, "reasoning": "{reasoning}", "evidence": [{{"claim": "{reasoning}!"}}], "lon": 2.35}}'
    for text in (answer, f"So:\n```json\n{answer}\n```\nDone. {{}}", '{"lat": 1, "lon": 1} {x} ' + answer):
        found = answer_from_json(text)
        assert (found.point.lat, found.point.lon) == (48.85, 2.35)
        assert (found.reasoning, found.claims[0].text) == (reasoning, f"{reasoning}!")


@pytest.mark.parametrize(
    "written",
    [
        "", "no braces", "{", "}{", '{"lat": 48.85}', '{"lat": 148.85, "lon": 2.35}', '{"lat": NaN, "lon": 2}',
        '{"lat": "north", "lon": 2}', '{"lat": true, "lon": false}', "[48.85, 2.35]", '{"lat": 48.85, "lon": 2.35',
    ],
)  # fmt: skip
def test_text_without_a_valid_answer_gives_no_answer(written):
    assert answer_from_json(written) is None


def test_null_coordinates_abstain_at_the_stated_level():
    found = answer_from_json('{"lat": null, "lon": null, "country": "Italy", "city": "unknown"}')
    assert found.abstains
    assert (found.level, found.country, found.city) == (Level.COUNTRY, "Italy", "")


def test_claims_and_numbers_are_kept_within_bounds():
    found = answer_from_json(
        '{"lat": 1, "lon": 2, "confidence": 7, "radius_km": -3,'
        ' "evidence": [{"claim": "a sign", "call": "c1"}, "moss", 5]}'
    )
    assert (found.confidence, found.radius_km) == (1.0, None)
    assert [(c.text, c.call_id) for c in found.claims] == [("a sign", "c1"), ("moss", None)]


@given(st.text(max_size=300))
def test_the_answer_parser_raises_no_error_for_any_text(text):
    answer_from_json(text)
    list(json_objects("{" + text + "}"))


@pytest.mark.parametrize(
    ("value", "expected"), [("−3.5", -3.5), (" 12° ", 12.0), (None, None), (True, None), ("1e400", None)]
)
def test_a_number_is_read_from_what_models_write(value, expected):
    assert number(value) == expected
