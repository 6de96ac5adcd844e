"""Thinking with Map as its notebook runs it: every call runs, and calls are read as JSON5."""

import json

import pytest
from support.released_thinking_with_map import ANSWER, TIPS, ZOOM, play, released_dialect, texts_read, written_call


def test_the_notebook_runs_every_call_and_answers_in_json():
    demo = released_dialect(released_path="demo")
    asked, zoomed = written_call("amap_input_tips", {"keywords": "茶"}), written_call("image_zoom_in_tool", ZOOM)
    output = f"Hm.\n{asked}\n{zoomed} I wait."
    played, _ = play(output, ANSWER, provider={"reply": TIPS}, speaker=demo)
    assert len(played.calls) == 2
    first, second = texts_read(played)
    assert json.loads(first)["tips"][0]["name"] == "茶馆"
    assert "ValidationError: 'label' is a required property" in second
    assert played.appended_messages()[0].text.endswith("</tool_call>")  # what follows the last call is dropped
    sampling = demo.sampling(rollout_id=0, n=1, seed=0, turn=0, max_tokens=100)
    assert (sampling.temperature, sampling.top_k, sampling.presence_penalty) == (0.7, 20, 1.5)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("{'name': 'x', 'arguments': {'a': 'b',},}", "x", '{"a": "b"}'),
        ('{name: "x", arguments: {a: .5, /* half */ b: 0x10}}', "x", '{"a": 0.5, "b": 16}'),
        ('{"name": "x", "arguments": {"a": "b"}', "x", '{"a": "b"'),
        ("zoom please", "", ""),
    ],
)
def test_the_notebook_reads_json5_and_cuts_the_rest_out_of_the_text(text, name, arguments):
    from tts.dialects.released.thinking_with_map.demo_tool_parser import CallMessage, parse_message

    assert parse_message(f"<tool_call>\n{text}\n</tool_call>") == (CallMessage(name, arguments),)
