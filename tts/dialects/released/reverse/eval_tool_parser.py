"""The calls that the evaluation finds in a message, and the message as it stays in the conversation.

`parse_tool_calls_flexible` of `eval/utils_agent_tool.py`: every closed tag with a JSON object; when there is none, the
object after the first open tag, which stands alone where the stop word took the closing tag away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tts.dialects.released.written_call import WrittenCall, written_call
from tts.domain.text_between_marks import value_between_tags

_CLOSED_CALL = value_between_tags("tool_call", "{}")
_OPEN_CALL = re.compile(r"<tool_call>\s*(?=\{)")
_OPEN_TAG = "<tool_call>"
_CLOSE_TAG = "</tool_call>"
_DECODER = json.JSONDecoder()
ZOOM = "image_zoom_in_tool"
IMAGE_SEARCH = "image_search_tool"
TEXT_SEARCH = "text_search_tool"
# `search_web` is a name from an earlier version: its arguments are guessed too, and then no tool has that name
_MAIN_ARGUMENT = {ZOOM: "bbox_2d", IMAGE_SEARCH: "bbox_2d", TEXT_SEARCH: "query", "search_web": "query"}


def calls_written(text: str, *, turn: int) -> tuple[WrittenCall, ...]:
    """The calls in order; a name or arguments that are missing are guessed from the keys, as there."""
    found = [_complete_call(value) for value in _closed_calls(text)] or [
        _complete_call(value) for value in _first_open_call(text)
    ]
    return tuple(
        written_call(f"call_{turn}_{i}", str(value.get("name", "")), value.get("arguments", {}), value)
        for i, value in enumerate(found)
    )


def kept_message(text: str) -> str:
    """The message with its last call closed; what follows that call is cut off, an answer too."""
    if _OPEN_TAG not in text or text.rstrip().endswith(_CLOSE_TAG):
        return text
    start = text.find("{", text.rfind(_OPEN_TAG))
    if start < 0:
        return f"{text.rstrip()}\n{_CLOSE_TAG}"
    return f"{text[: _balanced_end(text, start) + 1]}\n{_CLOSE_TAG}"


def _closed_calls(text: str) -> Iterator[dict[str, Any]]:
    for body in _CLOSED_CALL.findall(text):
        try:
            yield json.loads(body)
        except (ValueError, RecursionError):
            continue


def _first_open_call(text: str) -> Iterator[dict[str, Any]]:
    opened = _OPEN_CALL.search(text)
    if opened is None:
        return
    try:
        value, _ = _DECODER.raw_decode(text[opened.end() :].partition("<")[0])
    except (ValueError, RecursionError):
        return
    yield value


def _complete_call(value: dict[str, Any]) -> dict[str, Any]:
    if "name" not in value:
        if "bbox_2d" in value:
            return {"name": ZOOM, "arguments": {"bbox_2d": value["bbox_2d"]}}
        if "query" in value:
            return {"name": TEXT_SEARCH, "arguments": {"query": value["query"]}}
    if "arguments" not in value:
        key = _MAIN_ARGUMENT.get(str(value.get("name")))
        if key is not None and key in value:
            return {**value, "arguments": {key: value[key]}}
    return value


def _balanced_end(text: str, start: int) -> int:
    """Where the braces that open at `start` are closed; `start` itself when they never are."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return start
