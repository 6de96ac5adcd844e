"""REVERSE's three tools under their keys and types; the descriptions are the project's own."""

from __future__ import annotations

from typing import Any, Final

from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH, TEXT_SEARCH, ZOOM
from tts.dialects.released.tool_name import released_tool_name
from tts.dialects.served_tool import ServedTool, keep_arguments

EVAL_SYSTEM: Final = "reverse"
RL_SYSTEM: Final = "reverse_rl"
_BOX: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "number"},
    "description": "[x1, y1, x2, y2], each side of the photo from 0 to 1000",
}
_QUERY: Final[dict[str, Any]] = {
    "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "one query, or a list of queries",
}


def served_tools(system: str) -> tuple[ServedTool, ...]:
    """In the order in which they are sent: zoom, search by picture, search by text."""
    label = {"type": "string", "description": "what you expect to see there"}
    goal = {"type": "string", "description": "what you hope to recognise"}
    return (
        _make_tool(ZOOM, "image_zoom", "Enlarge a region of the photo.", {"bbox_2d": _BOX, "label": label}, system),
        _make_tool(IMAGE_SEARCH, "image_search", "Find pages with pictures like a region of the photo.",
              {"bbox_2d": _BOX, "goal": goal}, system),
        _make_tool(TEXT_SEARCH, "web_search", "Search the web.", {"query": _QUERY}, system),
    )  # fmt: skip


def _make_tool(name: str, ability: str, description: str, properties: dict[str, Any], system: str) -> ServedTool:
    target = released_tool_name(ability, system, name)
    return ServedTool(name, target, description, properties, (next(iter(properties)),), keep_arguments)
