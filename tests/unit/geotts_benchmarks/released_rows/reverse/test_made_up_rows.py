"""Rows of the project's own about REVERSE, in the form of the corpus: odd boxes, replies and crops."""

from functools import partial

import pytest
from support.made_up_rows import differing_rows

LOOK_ALIKE = {"pos": 1, "title": "Pier", "url": "https://pier.example/p", "domain": "pier.example"}
LENS = "made-up lens"


@pytest.fixture
def differing(tmp_path):
    return partial(differing_rows, tmp_path)


def tool_response(text):
    return [{"role": "user", "content": f"<tool_response>\n{text}\n</tool_response>"}]


def picture_search(number, box, reply, text, *, status=200, asked=1):
    provider = {"service": LENS, "status": status, "reply": reply}
    return {
        "id": f"reverse/eval/image_search_tool/{number}", "path": "eval", "tool": "image_search_tool",
        "arguments": {"bbox_2d": box}, "provider": provider, "request_count": asked, "messages": tool_response(text),
    }  # fmt: skip


def text_search(number, query, reply, text):
    return {
        "id": f"reverse/eval/text_search_tool/{number}", "path": "eval", "tool": "text_search_tool",
        "arguments": {"query": query}, "provider": {"service": "made-up pages", "status": 200, "reply": reply},
        "messages": tool_response(text),
    }  # fmt: skip


def lens(*organic):
    return {"results": [{"content": {"results": {"organic": [*organic]}}}]}


def test_a_picture_search_with_an_odd_box_or_reply_spoils_no_later_row(differing):
    one = "[1] Pier\n    Source: pier.example\n    Link: https://pier.example/p"
    call, api = "Tool call error: ", "Image search failed (API error): "
    bad_gateway = "502 Server Error: made up for url: https://provider.test/"
    good = lens(LOOK_ALIKE)
    rows = [
        picture_search(1, [], good, f"{call}Invalid bbox_2d: []", asked=0),
        picture_search(2, ["a", 1, 2, 3], good, f"{call}could not convert string to float: 'a'", asked=0),
        picture_search(3, [1, 2, 3], good, f"{call}not enough values to unpack (expected 4, got 3)", asked=0),
        picture_search(4, [10, 200, 600, 700], {"nope": 1}, f"{api}'results'"),
        picture_search(5, [11, 200, 600, 700], [], f"{api}list indices must be integers or slices, not str"),
        picture_search(6, [12, 200, 600, 700], good, f"Image search results for region [12, 200, 600, 700]:\n\n{one}"),
        picture_search(7, [13, 200, 600, 700], {"message": "x"}, f"{api}{bad_gateway}", status=502, asked=4),
    ]
    assert differing("reverse", "tools", rows) == []


def test_malformed_search_results_are_shown_as_the_released_code_shows_them(differing):
    rows = [
        text_search(1, "q", {"nope": 1}, "No results found for query: q"),
        text_search(2, "q", {"results": None}, "Tool call error: 'NoneType' object is not iterable"),
        text_search(3, "q", [], "Tavily search failed: 'list' object has no attribute 'get'"),
        text_search(4, "q", {"results": [{"url": "https://a.example"}]},
                    "Web search results for: q\n\n[1] \nURL: https://a.example"),
    ]  # fmt: skip
    assert differing("reverse", "tools", rows) == []


def test_a_crop_that_pillow_refuses_is_refused_in_its_words(differing):
    text = (
        "Tool call error: Image size (7620480000 pixels) exceeds limit of 178956970 pixels, "
        "could be decompression bomb DOS attack."
    )
    row = {
        "id": "reverse/eval/image_zoom_in_tool/1", "path": "eval", "tool": "image_zoom_in_tool",
        "arguments": {"bbox_2d": [0, 0, 100_000, 100_000]}, "provider": None, "messages": tool_response(text),
    }  # fmt: skip
    assert differing("reverse", "tools", [row]) == []
