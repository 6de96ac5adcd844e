"""A tool call exactly as the model wrote it, valid or not."""

from __future__ import annotations

from pydantic import JsonValue

from tts.domain.tooling import ToolCall


class WrittenCall(ToolCall):
    """A `ToolCall` that keeps its arguments also where they are no object. Events carry the plain call only.

    `whole` is all of what stood between the tags, for loops that write it back into the conversation.
    """

    written: JsonValue = None
    whole: JsonValue = None


def written_call(call_id: str, name: str, arguments: JsonValue, whole: JsonValue = None) -> WrittenCall:
    """Arguments that are no object are kept in `written` only."""
    plain = arguments if isinstance(arguments, dict) else {}
    return WrittenCall(id=call_id, name=name, arguments=plain, written=arguments, whole=whole)


def arguments_of(call: ToolCall) -> JsonValue:
    """The arguments as they were written."""
    return call.written if isinstance(call, WrittenCall) else dict(call.arguments)


def as_plain_call(call: ToolCall) -> ToolCall:
    """The call as events carry it: what a reader of the log gets back is equal to it."""
    return ToolCall(id=call.id, name=call.name, arguments=call.arguments) if isinstance(call, WrittenCall) else call
