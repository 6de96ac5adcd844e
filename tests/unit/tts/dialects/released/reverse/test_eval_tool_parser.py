"""Tool calls of REVERSE are read as the released evaluation reads them."""

import pytest
from support.released_reverse import SEARCH, ZOOM

from tts.dialects.released.reverse.eval_tool_parser import calls_written, kept_message


def test_a_call_without_its_end_tag_is_closed_and_text_after_it_is_cut_off():
    opened = f"<tool_call>\n{ZOOM}"
    assert [call.name for call in calls_written(opened, turn=0)] == ["image_zoom_in_tool"]
    assert kept_message(opened) == f"{opened}\n</tool_call>"
    assert kept_message(f"{opened} and <answer>A</answer>") == f"{opened}\n</tool_call>"
    assert kept_message("<tool_call> nothing ") == "<tool_call> nothing\n</tool_call>"
    assert kept_message("<tool_call>{ never closed") == "<tool_call>{\n</tool_call>"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('<tool_call>{"bbox_2d": [1, 2, 3, 4]}</tool_call>', ["image_zoom_in_tool"]),
        ('<tool_call>{"query": "x"}</tool_call>', ["text_search_tool"]),
        ('<tool_call>{"name": "text_search_tool", "query": "x"}</tool_call>', ["text_search_tool"]),
        (f'<tool_call>{{"name": }}</tool_call><tool_call>{SEARCH}</tool_call>', ["text_search_tool"]),
        ('<tool_call>{"query": "x",}</tool_call>', []),
        ('<tool_call>```{"query": "x"}```</tool_call>', []),
        ('<tool_call>{"query": "x"} and so', ["text_search_tool"]),
        ("<tool_call>[1]</tool_call>", []),
    ],
)
def test_calls_are_read_as_the_released_code_reads_them(text, names):
    assert [call.name for call in calls_written(text, turn=0)] == names


def test_missing_arguments_are_guessed_also_for_a_tool_of_an_earlier_version():
    (call,) = calls_written('<tool_call>{"name": "search_web", "query": "x"}</tool_call>', turn=0)
    assert call.whole == {"name": "search_web", "query": "x", "arguments": {"query": "x"}}
