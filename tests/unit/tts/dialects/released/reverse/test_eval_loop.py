"""The loop of REVERSE's evaluation: which calls run, what ends a rollout, and what becomes its answer."""

import json

import pytest
from support.released_reverse import ANSWER, SEARCH, ZOOM, play, released_dialect, tool_texts, written_call

from tts.dialects import DIALECTS
from tts.dialects.settings import DialectSettings
from tts.errors import ConfigError


def test_all_calls_of_a_message_run_in_order_and_pictures_come_before_their_text():
    played = play([written_call(ZOOM) + f"<tool_call>{SEARCH}</tool_call>", ANSWER])
    zoomed, searched = played.requests[1].messages[-2:]
    assert [type(part).__name__ for part in zoomed.parts] == ["ImagePart", "TextPart"]
    assert zoomed.text == "<tool_response>\nZoomed in on the image to the region [0, 0, 500, 500].\n</tool_response>"
    assert searched.text.startswith("<tool_response>\nWeb search results for: a mill\n\n[1] ")
    assert played.finished.answer.point.lat == 10.5
    assert played.requests[0].sampling.stop == ("</tool_call>",)


def test_a_closed_thought_without_an_action_gets_a_reminder_and_an_open_one_ends_it():
    assert len(play(["<think>x</think>", ANSWER]).requests) == 2
    assert len(play(["<think>x</think><answer>Land", ANSWER]).requests) == 2
    assert len(play(["<think>x", ANSWER]).requests) == 1
    assert len(play(["<think>x</think><answer>no numbers</answer>", ANSWER]).requests) == 1


def test_the_reminder_is_the_users_text_where_it_is_imported(tmp_path):
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({"nudge": "Go on."}))
    played = play(["<think>x</think>", ANSWER], dialect=released_dialect(texts_file=texts))
    assert played.requests[1].messages[-1].text == "Go on."


def test_a_run_ends_after_eleven_messages_and_calls_of_the_last_are_not_run():
    played = play([written_call('{"name": "text_search_tool", "arguments": {}}')] * 12)
    assert len(played.requests) == 11
    assert len(played.results) == 10
    assert played.finished.answer is None


def test_an_earlier_answer_is_not_remembered_and_an_unknown_tool_is_passed_over():
    outputs = [f"{ANSWER}<tool_call>{ZOOM}</tool_call>", "done"]
    assert play(outputs).finished.answer is None
    played = play([written_call('{"name": "maps", "arguments": {}}'), ANSWER])
    assert played.requests[1].messages[-1].role == "assistant"


def test_only_calls_that_worked_count_against_the_limits():
    bad = written_call('{"name": "image_zoom_in_tool", "arguments": {}}')
    played = play([bad] * 3 + [written_call(ZOOM)] * 6 + [ANSWER])
    assert [result.ok for result in played.results] == [False] * 3 + [True] * 5 + [False]
    assert (
        tool_texts(played)[-1] == "<tool_response>\nTool call error: Maximum crop calls (5) exceeded\n</tool_response>"
    )


def test_marks_of_results_become_evidence():
    played = play([written_call(SEARCH), f"<useful>[2]</useful>{ANSWER}"])
    (claim,) = played.finished.answer.claims
    assert "Result 2 on a mill" in claim.text


def test_an_unknown_path_is_a_configuration_error():
    with pytest.raises(ConfigError, match="eval, rl"):
        released_dialect("demo")
    with pytest.raises(ConfigError, match="not public"):
        DIALECTS["spotagent"].with_settings(DialectSettings(behaviour="released"))
