"""Arguments of REVERSE's tools: what is refused, in the words of the released code, and what is searched at once."""

import json

import pytest
from support.released_reverse import ANSWER, play, tool_texts, written_call


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("image_zoom_in_tool", {"bbox_2d": [500, 0, 100, 500]}, "Coordinate 'right' is less than 'left'"),
        ("image_zoom_in_tool", {"bbox_2d": [5, 5, 5, 9]}, "division by zero"),
        ("image_zoom_in_tool", {"bbox_2d": ["a", 0, 1, 1]}, "could not convert string to float: 'a'"),
        ("image_zoom_in_tool", {"bbox_2d": "1,2,3,4"}, "Invalid bbox_2d: 1,2,3,4"),
        ("image_zoom_in_tool", [1], "'list' object has no attribute 'get'"),
        ("image_search_tool", {"bbox_2d": []}, "Invalid bbox_2d: []"),
        ("image_search_tool", {"bbox_2d": [1, 2, 3]}, "not enough values to unpack (expected 4, got 3)"),
        ("image_search_tool", {"bbox_2d": [0, 500, 500, 100]}, "Coordinate 'lower' is less than 'upper'"),
        ("text_search_tool", {"query": " "}, "Invalid query: ' '"),
        ("text_search_tool", "not json", "Invalid query: ''"),
    ],
)
def test_a_call_that_breaks_says_why_in_the_words_of_the_released_code(name, arguments, text):
    played = play([written_call(json.dumps({"name": name, "arguments": arguments})), ANSWER])
    assert tool_texts(played) == [f"<tool_response>\nTool call error: {text}\n</tool_response>"]


def test_queries_and_boxes_are_searched_at_once_and_a_failed_one_leaves_the_others():
    both = {"name": "text_search_tool", "arguments": {"query": ["one", "two"]}}
    text = tool_texts(play([written_call(json.dumps(both)), ANSWER]))[0]
    assert text.index("Web search results for: one") < text.index("Web search results for: two")
    assert text.count("[1] ") == 2
    boxes = {"name": "image_search_tool", "arguments": {"bbox_2d": [[0, 0, 500, 500], [0, 0, 900, 900]], "goal": "g"}}
    text = tool_texts(play([written_call(json.dumps(boxes)), ANSWER]))[0]
    assert "region [0, 0, 500, 500] (goal: g):\n\n[1] Look-alike 1\n    Source: h1.example" in text
    assert "\n\nImage search results for region [0, 0, 900, 900] (goal: g):\n" in text
    empty = tool_texts(play([written_call('{"name": "text_search_tool", "arguments": {"query": []}}'), ANSWER]))
    assert empty == ["<tool_response>\nEmpty query\n</tool_response>"]
