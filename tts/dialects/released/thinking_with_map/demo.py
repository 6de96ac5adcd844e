"""The notebook's loop (demo/qwen_agent): all calls of a message run, arguments under other names, JSON as tool text.

The run ends with the first message without a call, or after 20 calls of the model. Nothing is cut and nothing counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from tts.dialects.base import ParsedTurn
from tts.dialects.released.released_dialect import is_text_of_tool
from tts.dialects.released.thinking_with_map.demo_tool_parser import CallMessage, format_message, parse_message
from tts.dialects.released.thinking_with_map.loop import ThinkingWithMapLoop
from tts.dialects.released.thinking_with_map.tool_sets import TOOLS
from tts.dialects.released.tool_name import released_tool_name
from tts.dialects.released.written_call import written_call
from tts.dialects.served_tool import ServedTool, box_of_four, keep_arguments
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.dialects.text_dialect import TextDialect
from tts.domain.messages import ImagePart, Message, TextPart
from tts.domain.plan import Limits
from tts.errors import ConfigError, ToolErrorKind
from tts.ports.toolbox import ToolOutcome

DEMO_SYSTEM: Final = "thinking_with_map_demo"
_MAX_MODEL_CALLS: Final = 20  # demo/qwen_agent/settings.py:24
_NUMBER: Final[dict[str, Any]] = {"type": "number", "description": "signed decimal degrees"}
_KEYWORDS: Final[dict[str, Any]] = {"keywords": {"description": "what to look for", "type": "string"}}
_POINT: Final[dict[str, Any]] = {"latitude": _NUMBER, "longitude": _NUMBER}
_BOX: Final[dict[str, Any]] = {
    "bbox_2d": box_of_four("the region as [x1, y1, x2, y2], each side of the photo from 0 to 1000"),
    "label": {"type": "string", "description": "what you expect to see there"},
    "img_idx": {"type": "number", "description": "which picture, counted from 0"},
}


def _make_tool(name: str, properties: dict[str, Any]) -> ServedTool:
    ability, description = TOOLS[name]
    target = released_tool_name(ability, DEMO_SYSTEM, name)
    return ServedTool(name, target, description, properties, tuple(properties), keep_arguments)


_QUERY: Final[dict[str, Any]] = {"query": {"type": "string"}}
# the notebook lists the first six; the three of Google stand there commented out
DEMO_SETS: Final[dict[str, tuple[ServedTool, ...]]] = {
    "amap": (
        _make_tool("image_zoom_in_tool", _BOX),
        _make_tool("amap_keyword_search", _KEYWORDS),
        _make_tool("amap_poi_detail", {"id": {"description": "the id of a place", "type": "string"}}),
        _make_tool("amap_input_tips", _KEYWORDS),
        _make_tool("amap_static_map", _POINT),
        _make_tool("amap_satellite_map", _POINT),
    ),
    "google": (
        _make_tool("image_zoom_in_tool", _BOX),
        _make_tool("web_search", _QUERY),
        _make_tool("google_map_search", _QUERY),
        _make_tool("google_static_map", _POINT),
    ),
}


def demo_tool(name: str) -> ServedTool:
    """A tool of the notebook by its name."""
    return next(tool for tools in DEMO_SETS.values() for tool in tools if tool.name == name)


@dataclass(frozen=True)
class ThinkingWithMapDemo(ThinkingWithMapLoop):
    """`tool_set` is amap (as the notebook has it) or google."""

    sets: ClassVar[Mapping[str, tuple[ServedTool, ...]]] = DEMO_SETS
    own_limits: ClassVar[Limits] = Limits(max_turns=_MAX_MODEL_CALLS, max_tool_calls=256, max_tokens=2**15)
    own_turn_tokens: ClassVar[int] = 2**15
    own_tools_in: ClassVar[Literal["template", "system_text"]] = "system_text"
    # demo/cookbook_think_with_map.ipynb, cell 3
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings(
        temperature=0.7, top_p=0.8, top_k=20, presence_penalty=1.5, repetition_penalty=1.0
    )
    own_group_sampling: ClassVar[SamplingSettings] = own_single_sampling
    calls_per_turn: ClassVar[int] = 64

    def with_settings(self, settings: DialectSettings) -> TextDialect:
        """Also with the set of tools that the settings name, else amap. Raises ConfigError for an unknown set."""
        chosen = settings.tool_set or "amap"
        if chosen not in DEMO_SETS:
            raise ConfigError(f"the demo has no tool_set {chosen!r}; there are: {', '.join(DEMO_SETS)}")
        return super(ThinkingWithMapDemo, replace(self, tool_set=chosen)).with_settings(settings)

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """All calls outside the thought; the message stays as the agent writes it again."""
        pieces = parse_message(text)
        called = [piece for piece in pieces if isinstance(piece, CallMessage)]
        calls = tuple(written_call(f"call_{turn}_{i}", call.name, call.arguments) for i, call in enumerate(called))
        return ParsedTurn(calls=calls, stored_text=format_message(pieces))

    def _tool_message(self, outcome: ToolOutcome) -> Message:
        """A picture comes without a text; both stand between the tags of the response."""
        images = tuple(ImagePart(image=image) for image in outcome.result.images)
        text = self.result_text(outcome)
        return Message(role="tool", parts=images or (TextPart(text=text),), result=outcome.result)

    def result_text(self, outcome: ToolOutcome) -> str:
        """The tool's text; a lost tool server and an unknown tool as the agent reports them."""
        result = outcome.result
        if is_text_of_tool(result):
            return result.text
        assert result.failure is not None
        if result.failure.kind is ToolErrorKind.UNKNOWN_TOOL:
            return f"Tool {result.name} does not exists."
        trouble = f"ConnectionError: {result.failure.detail}"
        return f"An error occurred when calling tool `{result.name}`:\n{trouble}\nTraceback:\n…"
