"""When two calls of tools are the same."""

from __future__ import annotations

import orjson

from tts.domain.tooling import ToolCall


def call_key(call: ToolCall) -> bytes:
    """The same for calls of one tool with the same arguments, in whatever order; their ids do not matter."""
    return orjson.dumps([call.name, call.arguments], option=orjson.OPT_SORT_KEYS)
