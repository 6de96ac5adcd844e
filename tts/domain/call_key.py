"""The key by which two equal tool calls are recognised."""

from __future__ import annotations

import orjson

from tts.domain.tooling import ToolCall


def call_key(call: ToolCall) -> bytes:
    """The same key for calls of one tool with the same arguments. The order of arguments and the ids do not matter."""
    return orjson.dumps([call.name, call.arguments], option=orjson.OPT_SORT_KEYS)
