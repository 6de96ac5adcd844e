"""Hermes tool calling, as the published Qwen chat templates write it and as models write it back.

Rendering is byte-equal to those templates, so a conversation rendered here and one rendered by an engine's template
give the same prompt. Reading is tolerant of form; a call that cannot be read is a problem with a reason, never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tts.dialects.json_answer_parser import json_objects
from tts.domain.messages import Message, Part, TextPart
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolSchema

_TOOLS_BEFORE = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
_TOOLS_AFTER = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n'
    "</tool_call>"
)
_OPEN_TAG = re.compile(r"<tool_call>", re.IGNORECASE)
_CLOSE_TAG = re.compile(r"</tool_call>", re.IGNORECASE)
_TOOL_CALL = re.compile(r"<tool_call>.*?(?:</tool_call>|\Z)", re.IGNORECASE | re.DOTALL)
_MAX_CALLS = 32


def tools_text(tools: Sequence[ToolSchema]) -> str:
    """The block that lists tools at the end of the system turn."""
    lines = "".join(f"\n{_to_json(wire_schema(tool))}" for tool in tools)
    return f"{_TOOLS_BEFORE}{lines}{_TOOLS_AFTER}"


def wire_schema(tool: ToolSchema) -> dict[str, Any]:
    """A tool as OpenAI's API and chat templates want it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def call_text(call: ToolCall) -> str:
    """A call between its tags, as the published templates write it."""
    return f'<tool_call>\n{{"name": "{call.name}", "arguments": {_to_json(call.arguments)}}}\n</tool_call>'


def as_plain_chat(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> tuple[Message, ...]:
    """The same conversation without tool roles: tools in the system turn, calls and responses as tagged text."""
    plain = list(messages)
    if tools:
        own = plain.pop(0).text + "\n\n" if plain and plain[0].role == "system" else ""
        plain.insert(0, Message(role="system", parts=(TextPart(text=own + tools_text(tools)),)))
    turns: list[Message] = []
    for role, run in groupby(plain, key=lambda message: message.role):
        if role == "tool":
            turns.append(Message(role="user", parts=tuple(_response_parts(run))))
        else:
            turns += [_write_out_calls(message) for message in run]
    return tuple(turns)


def _response_parts(messages: Iterable[Message]) -> Iterable[Part]:
    for i, message in enumerate(messages):
        yield TextPart(text=("\n" if i else "") + "<tool_response>\n")
        yield from message.parts
        yield TextPart(text="\n</tool_response>")


def _write_out_calls(message: Message) -> Message:
    if not message.tool_calls:
        return message
    written = "\n".join([*([message.text] if message.text else []), *map(call_text, message.tool_calls)])
    return message.model_copy(update={"parts": (TextPart(text=written),), "tool_calls": ()})


@dataclass(frozen=True, slots=True)
class FoundCalls:
    """What a text says about calls: those that can be read, and why the others cannot."""

    calls: tuple[ToolCall, ...] = ()
    problem: str = ""


def calls_in(text: str, *, turn: int) -> FoundCalls:
    """All tagged calls of a text in order. Ids are made from the turn, so that they are unique in a rollout."""
    calls: list[ToolCall] = []
    problem = ""
    pieces = _OPEN_TAG.split(text)[1 : _MAX_CALLS + 1]
    for piece in pieces:
        body, *rest = _CLOSE_TAG.split(piece, maxsplit=1)
        found = next((call for value in json_objects(body) if (call := call_from(value, "")) is not None), None)
        if found is not None:
            calls.append(found.model_copy(update={"id": f"call_{turn}_{len(calls)}"}))
        elif not problem:
            problem = "a tool call cannot be read as JSON" if rest else "a tool call is cut off"
    return FoundCalls(tuple(calls), problem)


def without_calls(text: str) -> str:
    """The text without its tagged calls, so that arguments are never taken for an answer."""
    return _TOOL_CALL.sub("", text)


def call_from(value: dict[str, Any], call_id: str) -> ToolCall | None:
    """`{"name": …, "arguments": {…}}`, with `parameters` and arguments that are JSON in a string accepted."""
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = value.get("name")
    arguments = value.get("arguments", value.get("parameters", {}))
    if isinstance(arguments, str):
        arguments = next(json_objects(arguments), None) if arguments.strip() else {}
    if not isinstance(name, str) or not name.strip() or not isinstance(arguments, dict):
        return None
    plain = _to_jsonable(arguments)
    return None if plain is None else ToolCall(id=call_id, name=name.strip()[:100], arguments=plain)


def _to_jsonable(arguments: dict[Any, Any]) -> dict[str, Any] | None:
    """Through JSON once: lenient reading may have produced sets, bytes, tuples or infinities."""
    try:
        plain = json.loads(json.dumps(arguments, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
