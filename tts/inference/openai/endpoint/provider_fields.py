"""Fields that endpoints add to messages and tool calls, collected from a stream, so that they can be sent back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tts.domain.messages import ProviderFields

REASONING_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_details"})
_STANDARD_MESSAGE_FIELDS = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio", "annotations"}
)
_STANDARD_CALL_FIELDS = frozenset({"index", "id", "type", "function"})
_MAX_CHARS = 2**20
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class _Text(list[str]):
    """The pieces of a text; joined once, so that many small ones take linear time."""


class ProviderFieldCollector:
    """Merges the pieces of a stream: text is joined, lists are extended, the rest is replaced. Bounded to 1 MiB."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._size = 0

    def add_message(self, delta: Mapping[str, Any]) -> None:
        """Take those fields of a message's delta that are not part of every chat completion."""
        self._merge(self._message, delta, _STANDARD_MESSAGE_FIELDS)

    def add_call(self, place: int, piece: Mapping[str, Any]) -> None:
        """Take those fields of a piece of the tool call at `place` that are not part of every chat completion."""
        if piece.keys() - _STANDARD_CALL_FIELDS:
            self._merge(self._calls.setdefault(place, {}), piece, _STANDARD_CALL_FIELDS)

    def collect(self, call_ids: Mapping[int, str]) -> ProviderFields | None:
        """`call_ids`: the id under which the call at each place is known. None when there is nothing to send back."""
        calls = {call_ids[at]: _join_texts(fields) for at, fields in self._calls.items() if at in call_ids and fields}
        return ProviderFields(message=_join_texts(self._message), calls=calls) if self._message or calls else None

    def _merge(self, into: dict[str, Any], piece: Mapping[str, Any], common: frozenset[str]) -> None:
        for name, value in piece.items():
            if name in common or value is None:
                continue
            self._size += len(value) if isinstance(value, str) else 64
            if self._size > _MAX_CHARS:
                return
            pieces = _Text((value,)) if isinstance(value, str) else value
            before = into.get(name)
            if isinstance(before, list) and type(before) is type(pieces):
                before.extend(pieces)
            else:
                into[name] = pieces


def _join_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: "".join(value) if isinstance(value, _Text) else value for name, value in fields.items()}


def without_reasoning(text: str) -> str:
    """The text without the thought it opens with, which came in a field of its own."""
    return _THOUGHT.sub("", text, count=1).lstrip("\n")
