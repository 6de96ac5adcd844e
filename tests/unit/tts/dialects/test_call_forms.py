"""Calls in the forms of other model families: read like hermes calls, and never taken for an answer."""

import time

import pytest

from tts.dialects import DIALECTS
from tts.dialects.base import Completion
from tts.dialects.text_dialect import TextDialect
from tts.domain.geo import LatLon

WITH_TOOLS = sorted(
    name for name, dialect in DIALECTS.items() if isinstance(dialect, TextDialect) and dialect.own_limits.max_tool_calls
)


def parse(name, text, **changes):
    return DIALECTS[name].parse(Completion(text, **changes), turn=0)


def calls_of(parsed):
    return [(call.name, call.arguments) for call in parsed.calls]


@pytest.mark.parametrize("name", WITH_TOOLS)
@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=static_map>\n<parameter=latitude>\n48.85\n</parameter>\n<parameter=label>\nRue 7\n"
        "</parameter>\n</function>\n</tool_call>",
        "<function=static_map><parameter=latitude>48.85</parameter><parameter=label>Rue 7</parameter></function>",
        '<function=static_map>{"latitude": 48.85, "label": "Rue 7"}</function>',
        "<tool_call>static_map\n<arg_key>latitude</arg_key>\n<arg_value>48.85</arg_value>\n<arg_key>label</arg_key>\n"
        "<arg_value>Rue 7</arg_value>\n</tool_call>",
        '[TOOL_CALLS] [{"name": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}}]',
        '[TOOL_CALLS]static_map[ARGS]{"latitude": 48.85, "label": "Rue 7"}',
        '[TOOL_CALLS]static_map[CALL_ID]a1B2[ARGS]{"latitude": 48.85, "label": "Rue 7"}',
        '<|python_tag|>{"name": "static_map", "parameters": {"latitude": 48.85, "label": "Rue 7"}}<|eom_id|>',
        "<|tool_call_begin|>functions.static_map:0<|tool_call_argument_begin|>"
        '{"latitude": 48.85, "label": "Rue 7"}<|tool_call_end|>',
        '<tool_call>{"name": "static_map", "args": {"latitude": 48.85, "label": "Rue 7"}}</tool_call>',
        '<tool_call>{"tool": "static_map", "input": {"latitude": 48.85, "label": "Rue 7"}}</tool_call>',
        '<tool_call>{"function": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}}</tool_call>',
        '<tool_call>{"name": "static_map", "latitude": 48.85, "label": "Rue 7"}</tool_call>',
        '<tool_call>\n{"name": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}\n</tool_call>',
        '<tool_call>{{"name": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}}}</tool_call>',
        'I look.\n```json\n{"name": "static_map", "parameters": {"latitude": 48.85, "label": "Rue 7"}}\n```',
        '{"type": "function", "function": {"name": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}}}',
        '{"name": "static_map", "arguments": {"latitude": 48.85, "label": "Rue 7"}}\n</tool_call>',
        '{"thought": "A map.", "action": "static_map", "action_input": {"latitude": 48.85, "label": "Rue 7"}}',
        'Action: static_map\nAction Input: {"latitude": 48.85, "label": "Rue 7"}\nObservation: a map',
        "<|channel|>commentary to=functions.static_map <|constrain|>json<|message|>"
        '{"latitude": 48.85, "label": "Rue 7"}<|call|>',
    ],
)
def test_a_call_is_read_in_the_form_of_its_model(name, text):
    assert calls_of(parse(name, text)) == [("static_map", {"latitude": 48.85, "label": "Rue 7"})]


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]static_map[ARGS]{"lat": 48.85, "lon": 2.35}',
        '<function=static_map>{"lat": 48.85, "lon": 2.35}</function>',
        "<|tool_call_begin|>functions.static_map:0<|tool_call_argument_begin|>"
        '{"lat": 48.85, "lon": 2.35}<|tool_call_end|>',
        '<tool_call>{"name": "static_map", "args": {"lat": 48.85, "lon": 2.35}}</tool_call>',
        'Action: static_map\nAction Input: {"lat": 48.85, "lon": 2.35}',
        '{"tool_name": "static_map", "tool_input": {"lat": 48.85, "lon": 2.35}}',
    ],
)
def test_the_arguments_of_a_call_are_no_answer(text):
    assert calls_of(parse("generic", text)) == [("static_map", {"lat": 48.85, "lon": 2.35})]


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "static_map", "lat": 48.85, "lon": 2.35}',
        '<tool_call>map</tool_call>\n<tool_response>\n{"lat": 48.85, "lon": 2.35}\n</tool_response>',
        '<tool_response>{"lat": 48.85, "lon": 2.35}',
    ],
)
def test_neither_a_call_that_cannot_be_read_nor_a_response_that_is_made_up_is_an_answer(text):
    assert parse("generic", text).problem


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "x"}\n{"name": "y"}</tool_call>',
        '<tool_call>[{"name": "x", "arguments": null}, {"name": "y", "arguments": {}}]</tool_call>',
        '[TOOL_CALLS][{"name": "x", "arguments": {}}, {"name": "y", "arguments": {}}]',
        "[TOOL_CALLS]x[ARGS]{}[TOOL_CALLS]y[ARGS]{}",
        "<tool_call>\n<function=x>\n</function>\n</tool_call>\n<tool_call>\n<function=y>\n</function>\n</tool_call>",
    ],
)
def test_all_calls_are_read_in_order(text):
    assert [call.name for call in parse("generic", text).calls] == ["x", "y"]
    assert [call.name for call in parse("spotagent", text).calls] == ["x"]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=x>\n<parameter=query>\nRue de",
        "<tool_call>\n<function=x>\n<parameter=query>\nRue de Rivoli\n</parameter>\n<param",
        "<tool_call>x\n<arg_key>query</arg_key>\n<arg_value>Rue de",
        '[TOOL_CALLS]x[ARGS]{"query": "Rue de',
        '<tool_call>{"name": "x", "arguments": {"query": "Rue", "country": ',
    ],
)
@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_call_that_is_cut_off_is_a_problem_in_every_form(name, text):
    parsed = parse(name, text, truncated=True)
    assert not parsed.calls
    assert "a tool call" in parsed.problem


def test_a_tag_that_is_only_spoken_of_hides_no_answer():
    text = 'No further `<tool_call>` is needed.\n{"lat": 48.85, "lon": 2.35}'
    assert parse("generic", text).answer.point.lat == 48.85


def test_dialects_without_tools_read_no_bare_calls():
    assert parse("geo_adapt", '{"name": "x", "arguments": {}}').problem


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>", "<tool_call>{", "<function=a>", "<function=a><parameter=b>", "<arg_key>", "<arg_key>a</arg_key>",
        "<tool_call>a<arg_key>", "[TOOL_CALLS]", "[TOOL_CALLS]a[ARGS]{", "<|python_tag|>", "<|tool_call_begin|>a:1",
        "<tool_response>", "to=functions.a", "Action: a\nAction Input:", "Action: a\n",
        "a ",
    ],
)  # fmt: skip
def test_long_hostile_calls_are_read_in_linear_time(piece):
    started = time.process_time()
    parse("generic", "<tool_call>" + piece * (200_000 // len(piece)))
    assert time.process_time() - started < 5.0


MARKS = [
    "<tool_call>", "</tool_call>", "<tool_response>", "<function=a>", "[TOOL_CALLS]", "<|python_tag|>",
    "to=functions.a", "<|tool_call_begin|>", "`<tool_call>`", "<tool_call>{'name': 'a', 'arguments': {}}</tool_call>",
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_in_a_text_of_an_answer_is_only_spoken_of(mark):
    """What a sign in the photo says decides nothing."""
    parsed = parse("generic", f'{{"reasoning": "The sign says {mark}.", "lat": 48.85, "lon": 2.35}}')
    assert (parsed.answer.point, parsed.answer.reasoning) == (LatLon(lat=48.85, lon=2.35), f"The sign says {mark}.")


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_in_an_argument_is_part_of_it(mark):
    call = f'{{"name": "web_search", "arguments": {{"query": "a {mark} b"}}}}'
    for text in (f"<tool_call>{call}</tool_call>", f"[TOOL_CALLS][{call}]"):
        assert calls_of(parse("generic", text)) == [("web_search", {"query": f"a {mark} b"})]


@pytest.mark.parametrize("mark", ["<function=a>", "[TOOL_CALLS]", "to=functions.a ", "<|python_tag|>"])
def test_an_answer_in_its_tags_may_follow_a_mark_that_is_only_spoken_of(mark):
    parsed = parse("reverse", f"I write no {mark} now. <answer>France, Paris, 48.85, 2.35</answer>")
    assert parsed.answer.point == LatLon(lat=48.85, lon=2.35)


@pytest.mark.parametrize(
    "text",
    [
        "[TOOL_CALLS]static_map[ARGS]",
        "Action: static_map\nAction Input: ",
        '<|python_tag|>{"name": "static_map", "latitude": 48.8',
    ],
)
def test_a_call_that_ends_before_its_arguments_do_is_a_problem(text):
    assert parse("generic", text).problem


def test_many_marks_are_read_in_linear_time():
    text = '[TOOL_CALLS]{"a":' * 12_000
    started = time.perf_counter()
    assert parse("generic", text).problem
    assert time.perf_counter() - started < 2.0


def test_a_tool_as_the_prompt_lists_it_is_no_call():
    listed = '{"name": "web_search", "description": "Search the web.", "parameters": {"type": "object"}}'
    for text in (listed, f'{{"type": "function", "function": {listed}}}'):
        assert not parse("generic", text).calls
