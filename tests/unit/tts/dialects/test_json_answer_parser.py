import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.dialects import DIALECTS
from tts.dialects.base import Completion
from tts.dialects.json_answer_parser import answer_from_json, json_objects, number
from tts.domain.geo import LatLon
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


EVIDENCE = '"evidence": [{"claim": "a sign", "call": null}]'


@pytest.mark.parametrize(
    "written",
    [
        '{"lat": 48.85, /* north */ "lon": 2.35, %s}',
        '{\n"lat": 48.85, // the "tower", {here}\n"lon": 2.35, # east\n%s // that is all\n}',
        "{'lat': 48.85, 'lon': 2.35, 'note': 'it's here', 'ok': True, 'radius_km': None, %s}",
        "{lat: 48.85, lon: 2.35, %s}",
        '{"lat": +48.85, "lon": 02.35, %s}',
        '{"lat": 48.85° N, "lon": 2.35° E, %s}',
        '{"lat": 48,85, "lon": 2,35, %s}',
        '{\n"lat": 48.85\n"lon": 2.35\n%s\n}',
        '{"lat": 48.85, "lon": 2.35, "place": "the "Tour Eiffel", they say", %s}',
        '{\n"lat": 48.85,\n"place": "Tour Eiffel,\n"lon": 2.35,\n%s}',
        r'{"lat": 48.85, "lon": 2.35, "reasoning": "at 48.85^\circ, it\'s", %s}',
        '{“lat”: 48.85, “lon”: 2.35, “place”: “the sign "X"”, %s,}',
        '{"lat": 48.85, "lon": 2.35, "confidence": NaN, "read": [...], %s}',
        '{\u200b\u00a0"lat": 48.85,\u00a0"lon": 2.35,\u00a0%s,}',
        '\\boxed{{"lat": 48.85, "lon": 2.35, %s}}',
        'I see { a tower. {"lat": 48.85, "lon": 2.35, %s}',
    ],
)
def test_an_answer_with_evidence_is_read_however_its_json_is_written(written):
    found = answer_from_json(written.replace("%s", EVIDENCE))
    assert (found.point.lat, found.point.lon) == (48.85, 2.35)
    assert [claim.text for claim in found.claims] == ["a sign"]


@pytest.mark.parametrize(
    "written",
    [
        '{"country": "France", "coordinates": {"latitude": 48.85, "longitude": 2.35}, "radius_km": "5 km"}',
        '{"country": "France", "radius_km": 5, "coordinates": "48.85° N, 2.35° E"}',
        '{"country": "Peru", "answer": {"country": "France", "location": {"lat": 48.85, "lng": 2.35}}, "radius_km": 5}',
        '{"first_idea": {"lat": 1, "lon": 1}, "final_answer": {"lat": 48.85, "lon": 2.35, "country": "France"},'
        ' "radius_km": 5}',
    ],
)
def test_names_and_radius_may_stand_around_a_wrapped_point(written):
    found = answer_from_json(written)
    assert (found.point.lat, found.point.lon, found.country, found.radius_km) == (48.85, 2.35, "France", 5.0)


@pytest.mark.parametrize(
    "written",
    [
        '[{"lat": 48.85, "lon": 2.35, "confidence": 0.7}, {"lat": 43.3, "lon": 5.4, "confidence": 0.2}]',
        '{"lat": 1, "lon": 1} or one of [\n{"lat": 48.85, "lon": 2.35},\n{"lat": 43.3, "lon": 5.4}\n]',
        '{"first": {"lat": 48.85, "lon": 2.35}, "second": {"lat": 43.3, "lon": 5.4}}',
        '{"lat": "unknown", "lon": "unknown", "nearest_town": {"lat": 48.85, "lon": 2.35}}',
        '{"coordinates": [2.35, 48.85]}',
        '{"coordinates": "2.35, 48.85"}',
        '{"name": "static_map", "args": {"lat": 48.85, "lon": 2.35}}',
        '{"lat": 48.85, "guesses": [{"lat": 1, "lon": 1}], "lon": 2.3',
    ],
)
def test_candidates_drafts_and_numbers_of_either_order_are_no_answer(written):
    assert answer_from_json(written) is None


def test_several_answers_of_one_place_are_one_answer():
    assert answer_from_json('[{"lat": 48.85, "lon": 2.35}, {"lat": 48.85, "lon": 2.35}]').point.lat == 48.85


@pytest.mark.parametrize("key", ["", "it's", 'a \\"sign\\"', "k" * 150, "名"])
def test_any_key_may_come_first(key):
    assert answer_from_json(f'{{"{key}": 1, "lat": 48.85, "lon": 2.35}}').point.lat == 48.85


@pytest.mark.parametrize("nothing", ["null", "None", '"null"', '"None"'])
def test_null_in_any_spelling_abstains(nothing):
    assert answer_from_json(f'{{"lat": {nothing}, "lon": {nothing}, {EVIDENCE}}}').abstains


@pytest.mark.parametrize(
    ("written", "abstains"),
    [
        ('{"lat": 0, "lon": 0}', True),
        ('{"lat": 0.0, "lon": 0.0, "country": "Ghana", "level": "none"}', True),
        ('{"lat": 0, "lon": 0, "country": "Ghana", "confidence": 0}', True),
        ('{"lat": 0, "lon": 0, "country": "Ghana"}', False),
        ('{"lat": 0, "lon": 9.45}', False),
    ],
)
def test_two_zeros_with_nothing_beside_them_abstain(written, abstains):
    assert answer_from_json(written).abstains == abstains


@pytest.mark.parametrize("evidence", ['"a sign"', '["a sign"]', '{"claim": "a sign"}', '[{"claim": "a sign"}]'])
def test_one_piece_of_evidence_needs_no_list(evidence):
    found = answer_from_json(f'{{"lat": 1, "lon": 2, "evidence": {evidence}}}')
    assert [claim.text for claim in found.claims] == ["a sign"]


@pytest.mark.parametrize(
    ("written", "confidence"),
    [("0.85", 0.85), ("1.0", 1.0), ("85", 0.85), ('"85%"', 0.85), ('"1 %"', 0.01), ('"high"', None)],
)
def test_a_confidence_may_be_in_percent(written, confidence):
    assert answer_from_json(f'{{"lat": 1, "lon": 2, "confidence": {written}}}').confidence == confidence


@pytest.mark.parametrize(
    "piece",
    [
        '"',
        '{"',
        "'a",
        "{ ",
        "{}",
        "{//",
        "{/*",
        "/*\n",
        '{"a": "b"c ',
        "{a: b, ",
        '{"lat": 1, "lon": 2}, ',
        "\\",
        "\n ",
    ],
)
@pytest.mark.parametrize("frame", ["%s", '{"a": [%s]}', '{"a": "b"c %s d", "lat": 1}'])
def test_long_hostile_objects_are_read_in_linear_time(piece, frame):
    started = time.process_time()
    list(json_objects(frame.replace("%s", piece * (200_000 // len(piece)))))
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize(
    "written",
    [
        "", "no braces", "{", "}{", '{"lat": 48.85}', '{"lat": 148.85, "lon": 2.35}', '{"lat": NaN, "lon": 2}',
        '{"lat": "north", "lon": 2}', '{"lat": true, "lon": false}', "[48.85, 2.35]", '{"lat": 48.85, "lon": 2.35',
    ],
)  # fmt: skip
def test_text_without_a_valid_answer_gives_no_answer(written):
    assert answer_from_json(written) is None


@pytest.mark.parametrize(
    ("text", "truncated", "is_answer"),
    [
        ("<think>So:\n```json\n{%s}\n```\n</think>\n", False, True),
        ("<think>So: {%s}</think>", True, False),
        ("<think>So: {%s}? Perhaps.</think>", False, False),
        ("<think>So: {%s}? I look: {'box': 1}</think>", False, False),
        ("<think>So: {%s}</think>I cannot say.", False, False),
    ],
)
@pytest.mark.parametrize("name", ["generic", "thinking_with_map"])
def test_an_answer_that_ends_the_thought_counts_where_nothing_was_said_after_it(name, text, truncated, is_answer):
    """Of a server that takes all of a reply for a thought."""
    completion = Completion(text.replace("%s", '"lat": 48.85, "lon": 2.35'), truncated=truncated)
    assert (DIALECTS[name].parse(completion, turn=0).answer is not None) == is_answer


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


@pytest.mark.parametrize(
    "text",
    [
        '[{"lat": 48.85, "lon": 2.35}, {"lat": 43.3, "lon": 5.',
        '[{"lat": 48.85, "lon": 2.35}, {"na',
        'A draft: {"lat": 1, "lon": 1}. Final: {"lat": 48.85, "lon": 2.',
        'A draft: {"lat": 1, "lon": 1}. Final: {"city": "Paris", "lat": 48.85, "lon": 2.35, "a": "b"\nWait. }',
        'A draft: {"lat": 1, "lon": 1}. Final: {"lat": 48.8 or 49.1, "lon": 2.35}',
        'A draft: {"lat": 1, "lon": 1}. Final: {"lat": 120.1, "lon": 30.2}',
    ],
)
def test_a_draft_is_no_answer_where_what_follows_cannot_be_read(text):
    assert answer_from_json(text) is None


def test_a_template_or_a_call_behind_an_answer_takes_nothing_from_it():
    for after in (
        '{"lat": number or null, "lon": number or null}',
        '{"tool": "static_map", "lat": 1, "lon": 2}',
        "I wrote {x}.\nLatitude: 1",
    ):
        assert answer_from_json(f'{{"lat": 48.85, "lon": 2.35}} {after}').point == LatLon(lat=48.85, lon=2.35)


@pytest.mark.parametrize(
    "written",
    [
        '{"action": "Final Answer", "action_input": {"lat": 48.85, "lon": 2.35}}',
        '{"action": "final_answer", "lat": 48.85, "lon": 2.35}',
        '{"name": "final_answer", "arguments": {"lat": 48.85, "lon": 2.35}}',
        '{"tool": null, "lat": 48.85, "lon": 2.35}',
        '{"lat": 48.85, "lon": 2.35, "action": "none"}',
    ],
)
def test_an_answer_may_be_written_like_a_call(written):
    assert answer_from_json(written).point == LatLon(lat=48.85, lon=2.35)


@pytest.mark.parametrize("answer", ["null", '"unknown"', '""'])
def test_an_answer_that_is_none_is_not_taken_from_what_stands_beside_it(answer):
    assert answer_from_json(f'{{"answer": {answer}, "nearest": {{"lat": 1, "lon": 2}}}}') is None
