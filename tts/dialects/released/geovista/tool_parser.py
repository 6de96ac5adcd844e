"""Calls in a message of GeoVista, and the message as its loop keeps it (eval/utils_agent_tool.py:118-209)."""

from __future__ import annotations

import json
from typing import Final

from pydantic import JsonValue

from tts.domain.text_between_marks import value_between_tags

_CALL: Final = value_between_tags("tool_call", "{}")


def calls_written(text: str) -> list[JsonValue]:
    """Every object between closed tags that is JSON; what is not is passed over."""
    found: list[JsonValue] = []
    for raw in _CALL.findall(text):
        try:
            found.append(json.loads(raw))
        except (ValueError, RecursionError):
            continue
    return found


def kept_text(text: str) -> str:
    """What stands before the first call, and that call written anew; null where it has no name or is not JSON."""
    found = _CALL.search(text)
    if found is None:
        return text
    call = next(iter(calls_written(text[found.start : found.end])), None)
    named = call if isinstance(call, dict) and call.get("name") else None
    return text[: found.start].strip() + call_text(named)


def call_text(call: JsonValue) -> str:
    """A call between its tags, as the loop writes one: JSON indented by two."""
    return f"<tool_call>{json.dumps(call, ensure_ascii=False, indent=2)}</tool_call>"
