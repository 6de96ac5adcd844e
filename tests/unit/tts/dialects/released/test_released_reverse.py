"""REVERSE as released: each rule of its loops and tools on a made-up case, through the code that serves."""

import asyncio
import json
import random

import pytest
from support.played_rollouts import MadeUpLens, MadeUpPages, made_photo, played_rollout

from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tools.released.catalog import released_local_tools
from tools.released.reverse.image_search import image_search_tool
from tools.released.reverse.recorded_results import recorded_pages, recorded_pictures
from tools.released.reverse.text_search import text_search_tool
from tools.released.reverse.training_searches import training_searches
from tts.config import ProviderSettings, ToolsConfig
from tts.dialects import DIALECTS
from tts.dialects.released.reverse.eval_tool_parser import calls_written, kept_message
from tts.dialects.settings import DialectSettings
from tts.errors import ConfigError, ToolError
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.reverse_cache.recorded_searches import CachedResult, PictureCall, ReverseCache, TextCall
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox

ZOOM = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 500, 500]}}'
SEARCH = '{"name": "text_search_tool", "arguments": {"query": "a mill"}}'
ANSWER = "<think>x</think><answer>Land, Town, 10.5, 20.5</answer>"
PHOTO = made_photo(1008, 756)


class _Empty:
    """A corpus without rows: every query has two made-up pages."""

    def rows(self, system, file):
        return []


def _released(path="eval", **settings):
    return DIALECTS["reverse"].with_settings(
        DialectSettings(behaviour="released", released_path=path).model_copy(update=settings)
    )


def _play(outputs, *, dialect=None, tools=None, system="reverse", **options):
    pages, lens = MadeUpPages(None, _Empty()), MadeUpLens(None, _Empty())
    behind = [image_search_tool(lens), text_search_tool(pages)] if tools is None else tools
    toolbox = JoinedToolbox(LocalToolbox(released_local_tools(system)), Broker(behind, MemoryStore()))
    return asyncio.run(played_rollout(dialect or _released(), toolbox, PHOTO, outputs, **options))


def _call(call):
    return f"<think>x</think><tool_call>{call}</tool_call>"


def _tool_messages(played):
    return [message.text for message in played.requests[-1].messages if message.role == "user"][1:]


def test_all_calls_of_a_message_run_in_order_and_pictures_come_before_their_text():
    played = _play([_call(ZOOM) + f"<tool_call>{SEARCH}</tool_call>", ANSWER])
    zoomed, searched = played.requests[1].messages[-2:]
    assert [type(part).__name__ for part in zoomed.parts] == ["ImagePart", "TextPart"]
    assert zoomed.text == "<tool_response>\nZoomed in on the image to the region [0, 0, 500, 500].\n</tool_response>"
    assert searched.text.startswith("<tool_response>\nWeb search results for: a mill\n\n[1] ")
    assert played.finished.answer.point.lat == 10.5
    assert played.requests[0].sampling.stop == ("</tool_call>",)


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


def test_a_closed_thought_without_an_action_gets_a_reminder_and_an_open_one_ends_it():
    assert len(_play(["<think>x</think>", ANSWER]).requests) == 2
    assert len(_play(["<think>x</think><answer>Land", ANSWER]).requests) == 2
    assert len(_play(["<think>x", ANSWER]).requests) == 1
    assert len(_play(["<think>x</think><answer>no numbers</answer>", ANSWER]).requests) == 1


def test_the_reminder_is_the_users_text_where_it_is_imported(tmp_path):
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({"nudge": "Go on."}))
    played = _play(["<think>x</think>", ANSWER], dialect=_released(texts_file=texts))
    assert played.requests[1].messages[-1].text == "Go on."


def test_a_run_ends_after_eleven_messages_and_calls_of_the_last_are_not_run():
    played = _play([_call('{"name": "text_search_tool", "arguments": {}}')] * 12)
    assert len(played.requests) == 11
    assert len(played.results) == 10
    assert played.finished.answer is None


def test_an_earlier_answer_is_not_remembered_and_an_unknown_tool_is_passed_over():
    outputs = [f"{ANSWER}<tool_call>{ZOOM}</tool_call>", "done"]
    assert _play(outputs).finished.answer is None
    played = _play([_call('{"name": "maps", "arguments": {}}'), ANSWER])
    assert played.requests[1].messages[-1].role == "assistant"


def test_only_calls_that_worked_count_against_the_limits():
    bad = _call('{"name": "image_zoom_in_tool", "arguments": {}}')
    played = _play([bad] * 3 + [_call(ZOOM)] * 6 + [ANSWER])
    assert [result.ok for result in played.results] == [False] * 3 + [True] * 5 + [False]
    assert (
        _tool_messages(played)[-1]
        == "<tool_response>\nTool call error: Maximum crop calls (5) exceeded\n</tool_response>"
    )


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
    played = _play([_call(json.dumps({"name": name, "arguments": arguments})), ANSWER])
    assert _tool_messages(played) == [f"<tool_response>\nTool call error: {text}\n</tool_response>"]


def test_queries_and_boxes_are_searched_at_once_and_a_failed_one_leaves_the_others():
    both = {"name": "text_search_tool", "arguments": {"query": ["one", "two"]}}
    text = _tool_messages(_play([_call(json.dumps(both)), ANSWER]))[0]
    assert text.index("Web search results for: one") < text.index("Web search results for: two")
    assert text.count("[1] ") == 2
    boxes = {"name": "image_search_tool", "arguments": {"bbox_2d": [[0, 0, 500, 500], [0, 0, 900, 900]], "goal": "g"}}
    text = _tool_messages(_play([_call(json.dumps(boxes)), ANSWER]))[0]
    assert "region [0, 0, 500, 500] (goal: g):\n\n[1] Look-alike 1\n    Source: h1.example" in text
    assert "\n\nImage search results for region [0, 0, 900, 900] (goal: g):\n" in text
    empty = _tool_messages(_play([_call('{"name": "text_search_tool", "arguments": {"query": []}}'), ANSWER]))
    assert empty == ["<tool_response>\nEmpty query\n</tool_response>"]


def test_marks_of_results_become_evidence():
    played = _play([_call(SEARCH), f"<useful>[2]</useful>{ANSWER}"])
    (claim,) = played.finished.answer.claims
    assert "Result 2 on a mill" in claim.text


def _cache():
    results = tuple(CachedResult(i, f"T{i}", f"https://{i}.example", "S", "text " * 99, i < 3) for i in range(1, 6))
    pictures = {"p.jpg": (PictureCall("p.jpg", 0, (0.0, 0.0, 500.0, 500.0), results),)}
    texts = {"p.jpg": (TextCall("p.jpg", 0, "old mill", results), TextCall("p.jpg", 1, "none", ()))}
    return ReverseCache(pictures, texts, {PHOTO.sha256: "p.jpg"})


def test_the_searches_of_training_know_recorded_calls_and_their_rewards():
    cache, chance = _cache(), lambda: random.Random(0)
    found = recorded_pictures(cache, "p.jpg", [0, 0, 500, 450], chance)
    assert found.reward == pytest.approx(0.2 * 0.9)
    assert len(found.meta["_pos_indices_in_mixed"]) == 2
    assert recorded_pictures(cache, "p.jpg", [500, 500, 900, 900], chance).meta["iou"] == 0.0
    assert recorded_pictures(cache, "q.jpg", [0, 0, 1, 1], chance).meta["iou"] is None
    pages = recorded_pages(cache, "p.jpg", ["the", "OLD mill"], chance)
    assert pages.text.startswith("Web search results for: old mill\n\n[1] T")
    assert max(len(line) for line in pages.text.splitlines()) == 204
    assert recorded_pages(cache, "q.jpg", "x", chance).text == "Web search results for: x\n\nNo results found."
    for box, text in (([1, 2, 3], "not a list of 4"), (["a", 0, 1, 1], "non-numeric"), ([0, 0, 1, 1001], "[0, 1000]")):
        with pytest.raises(ToolError) as refusal:
            recorded_pictures(cache, "p.jpg", box, chance)
        assert text in refusal.value.detail


def _train(outputs, **before):
    return _play(outputs, dialect=_released("rl"), tools=training_searches(_cache()), system="reverse_rl", **before)


def test_training_runs_the_first_call_and_ends_without_one():
    played = _train([_call(ZOOM) + _call(SEARCH), ANSWER])
    (tool_message,) = [message for message in played.requests[1].messages if message.role == "tool"]
    assert tool_message.text == "Zoomed in on the image to the region [0, 0, 500, 500]."
    assert tool_message.images
    assert played.finished.answer.point.lon == 20.5
    assert len(_train(["<think>x</think>", ANSWER]).requests) == 1
    assert len(_train([f"<tool_call>{ZOOM}", ANSWER]).requests) == 1
    assert len(_train([_call(ZOOM)], turns_before=19).requests) == 1
    assert len(_train([_call(ZOOM)], tokens_before=8100).requests) == 1


def test_training_enlarges_small_boxes_and_refuses_thin_ones():
    def tool_message(box):
        call = json.dumps({"name": "image_zoom_in_tool", "arguments": {"bbox_2d": box}})
        played = _train([_call(call), ANSWER])
        return next(message for message in played.requests[1].messages if message.role == "tool")

    (picture,) = tool_message([500, 500, 505, 505]).images
    assert min(picture.width, picture.height) >= 28
    assert "smaller than the minimum size of 28x28" in tool_message([0, 500, 1000, 503]).text
    assert "must be normalized coordinates" in tool_message([0, 0, 1000.5, 500]).text
    assert tool_message(7).text == "Error when executing tool: object of type 'int' has no len()"


def test_a_long_search_result_in_training_loses_its_middle():
    results = tuple(CachedResult(i, "T" * 900, "l", "S", "", False) for i in range(1, 9))
    cache = ReverseCache({}, {"p.jpg": (TextCall("p.jpg", 0, "q", results),)}, {PHOTO.sha256: "p.jpg"})
    played = _play(
        [_call(SEARCH), ANSWER], dialect=_released("rl"), tools=training_searches(cache), system="reverse_rl"
    )
    text = played.requests[1].messages[-1].text
    assert "...(truncated)..." in text
    assert len(text) == 4000 + len("...(truncated)...")


def test_configured_as_released_the_tools_are_in_the_toolbox(tmp_path):
    from tts.toolkit.reverse_cache.tables import write_tables

    write_tables(_cache(), tmp_path)
    settings = {"tape": ProviderSettings(path=str(tmp_path), matching="reverse")}
    tools = ToolsConfig(providers=("tape", "offline"), settings=settings)
    for path, system in ((None, "reverse"), ("rl", "reverse_rl")):
        spoken = DialectSettings(behaviour="released", released_path=path)
        args = AppArgs(tools=tools, dialect="reverse", dialect_settings=spoken)
        names = {schema.name for schema in make_tooling(args, {}).toolbox.schemas()}
        assert {f"image_search.{system}.image_search_tool", f"web_search.{system}.text_search_tool"} <= names


def test_an_unknown_path_is_a_configuration_error():
    with pytest.raises(ConfigError, match="eval, rl"):
        _released("demo")
    with pytest.raises(ConfigError, match="not public"):
        DIALECTS["spotagent"].with_settings(DialectSettings(behaviour="released"))
