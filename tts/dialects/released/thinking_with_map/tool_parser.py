"""The calls that the training loop finds in a message (verl/experimental/agent_loop/tool_parser.py, hermes)."""

from __future__ import annotations

import json

from tts.dialects.released.written_call import WrittenCall, written_call
from tts.domain.text_between_marks import between_tags

_CALL = between_tags("tool_call")


def calls_found(text: str, *, turn: int) -> tuple[WrittenCall, ...]:
    """Every closed call tag that holds strict JSON with a name in a string and arguments, whatever these are.

    Tags count wherever they stand, inside thoughts too. What cannot be read is passed over.
    """
    found: list[WrittenCall] = []
    for body in _CALL.findall(text):
        try:
            value = json.loads(body)
            name, arguments = value["name"], value["arguments"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if isinstance(name, str):
            found.append(written_call(f"call_{turn}_{len(found)}", name, arguments, value))
    return tuple(found)
