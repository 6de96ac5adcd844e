"""Reads a streamed chat completion of any server: chunks in, deltas out.

Servers differ in the position of a call's name, id and index, in the form of arguments (whole, in pieces, an object),
in the position of usage, and in additional items of the stream. Items that are no part of a completion are ignored. A
call whose arguments are no JSON object becomes text, so that the dialect can tell the model what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from tts.dialects.hermes_tool_parser import call_from
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.errors import ModelError
from tts.inference.openai.endpoint.provider_fields import ProviderFieldCollector
from tts.ports.model_client import Delta

_END_OF_STREAM = b"[DONE]"
_MAX_LINE_BYTES = 8 * 2**20  # one chunk; a whole reply as one chunk has some bytes a character
_CHARACTERS_PER_TOKEN = 64  # about 4 are usual
_EXTRA_CHARACTERS = 65536  # thoughts may come on top of what was asked for
_MAX_CALLS = 256  # of one turn; models ask for a handful
Finish = Literal["stop", "length", "tool_calls"]


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class SseLines:
    """Cuts a byte stream into the data of server-sent events, whatever the pieces it arrives in, in linear time."""

    def __init__(self) -> None:
        self._unparsed_bytes = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each `data:` line that is now whole; others are dropped. ModelError beyond 8 MiB a line."""
        end, newline, rest = piece.rpartition(b"\n")
        lines: list[bytes] = []
        if newline:
            lines = bytes(self._unparsed_bytes + end).split(b"\n")
            self._unparsed_bytes = bytearray()
        self._unparsed_bytes += rest
        if len(self._unparsed_bytes) > _MAX_LINE_BYTES:
            raise ModelError(f"the endpoint sent a line of more than {_MAX_LINE_BYTES // 2**20} MiB")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()


class Completion:
    """Folds the chunks of one completion, in linear time. `ended` once the server said so."""

    def __init__(self, *, turn: int, used_ids: frozenset[str], max_tokens: int) -> None:
        self._turn = turn
        self._used_ids = used_ids
        self._max_tokens = max_tokens
        self._n_characters = 0  # characters of texts, names and arguments
        self._calls: dict[int, _OpenCall] = {}
        self._fields = ProviderFieldCollector()
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._n_pieces = 0
        self._is_thinking = False
        self.ended = False

    def feed(self, data: bytes) -> str:
        """The text one chunk adds. Raises ModelError when it reports an error, or is more than a model writes."""
        if data == _END_OF_STREAM:
            self.ended = True
            return ""
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            return ""
        return self.feed_object(chunk) if isinstance(chunk, dict) else ""

    def feed_object(self, chunk: dict[str, Any]) -> str:
        """As `feed`, for a chunk that is parsed already; also takes a whole completion that was not streamed."""
        if chunk.get("error"):
            raise ModelError(f"the endpoint reports: {_message(chunk['error'])}", transient=True)
        self._usage = usage_in(chunk) or self._usage
        choice = next((c for c in _as_list(chunk.get("choices")) if isinstance(c, dict)), None)
        if choice is None:
            return ""
        delta = _as_dict(choice.get("delta")) or _as_dict(choice.get("message"))
        self._fields.add_message(delta)
        text = self._text_of(delta)
        self._count_characters(len(text))
        self._n_pieces += bool(text)
        for call in _as_list(delta.get("tool_calls")):
            self._add_call(_as_dict(call))
        if legacy := _as_dict(delta.get("function_call")):
            self._add_call({"index": 0, "function": legacy})
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self._finish_reason = reason
        return text

    def last(self) -> tuple[str, Delta]:
        """Text that is still due, and the delta that ends the generation.

        Raises:
            ModelError: transient when the stream was cut, for good when the endpoint withheld the answer.
        """
        if self._finish_reason is None and not self.ended:
            raise ModelError("the stream of the endpoint was cut", transient=True)
        if self._finish_reason == "content_filter":
            raise ModelError("the endpoint withheld the answer (content filter)")
        if self._finish_reason == "abort":
            raise ModelError("the endpoint aborted the generation", transient=True)
        text = "</think>" if self._is_thinking else ""
        calls: list[ToolCall] = []
        ids: dict[int, str] = {}
        for i, (place, call) in enumerate(self._open_calls()):
            read = call_from({"name": call.name, "arguments": call.arguments}, self._call_id(call, i, calls))
            if read is None:
                text += f'\n<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}'
            else:
                calls.append(read)
                ids[place] = read.id
        finish: Finish = "length" if self._finish_reason == "length" else "tool_calls" if calls else "stop"
        usage = self._usage or Usage(completion_tokens=self._n_pieces + 8 * len(self._calls))
        fields = self._fields.collect(ids)
        return text, Delta(tool_calls=tuple(calls), finish_reason=finish, usage=usage, provider_fields=fields)

    def _text_of(self, delta: dict[str, Any]) -> str:
        """Content; reasoning that a server has split off is put back between its tags."""
        reasoning = _plain_text(delta.get("reasoning_content")) or _plain_text(delta.get("reasoning"))
        content = _plain_text(delta.get("content"))
        if reasoning and not self._is_thinking:
            self._is_thinking = True
            reasoning = f"<think>{reasoning}"
        if content and self._is_thinking:
            self._is_thinking = False
            content = f"</think>{content}"
        return reasoning + content

    def _add_call(self, piece: dict[str, Any]) -> None:
        function = _as_dict(piece.get("function"))
        call_id, name = _plain_text(piece.get("id")), _plain_text(function.get("name"))
        place = self._call_index(piece.get("index"), call_id, name)
        if place not in self._calls and len(self._calls) >= _MAX_CALLS:
            raise ModelError(f"the endpoint asked for more than {_MAX_CALLS} tools at once")
        call = self._calls.setdefault(place, _OpenCall())
        self._fields.add_call(place, piece)
        call.id = call.id or call_id
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            call.pieces = [json.dumps(arguments)]
        else:
            call.pieces.append(_plain_text(arguments))
        self._count_characters(len(name) + len(call.pieces[-1]))

    def _count_characters(self, characters: int) -> None:
        """Raises ModelError for more than `max_tokens` tokens can be: reading it would take time."""
        self._n_characters += characters
        if self._n_characters > _CHARACTERS_PER_TOKEN * self._max_tokens + _EXTRA_CHARACTERS:
            raise ModelError(
                f"the endpoint wrote {self._n_characters:,} characters where {self._max_tokens:,} tokens were asked for"
            )

    def _call_index(self, index: Any, call_id: str, name: str) -> int:
        """Which call a piece belongs to. Without an index a new id or a name starts a new call."""
        if isinstance(index, int) and not isinstance(index, bool):
            return index
        last = max(self._calls, default=-1)
        if last < 0:
            return 0
        open_call = self._calls[last]
        starts = call_id != open_call.id if call_id else bool(name)
        return last + 1 if starts else last

    def _open_calls(self) -> list[tuple[int, _OpenCall]]:
        return [(place, call) for place, call in sorted(self._calls.items()) if call.name or any(call.pieces)]

    def _call_id(self, call: _OpenCall, i: int, before: list[ToolCall]) -> str:
        """The server's id when it can serve as one: unique in the rollout."""
        taken = self._used_ids | {other.id for other in before}
        return call.id if call.id and len(call.id) <= 80 and call.id not in taken else f"c{self._turn}_{i}"


def usage_in(chunk: dict[str, Any]) -> Usage | None:
    """OpenAI's usage with its cached tokens; llama.cpp's timings where there is no usage."""
    usage, timings = _as_dict(chunk.get("usage")), _as_dict(chunk.get("timings"))
    if usage:
        details = _as_dict(usage.get("prompt_tokens_details"))
        cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or timings.get("cache_n")
        return Usage(
            prompt_tokens=_as_count(usage.get("prompt_tokens")),
            completion_tokens=_as_count(usage.get("completion_tokens")),
            cached_tokens=_as_count(cached),
        )
    if timings:
        cached, fresh = _as_count(timings.get("cache_n")), _as_count(timings.get("prompt_n"))
        return Usage(
            prompt_tokens=cached + fresh, completion_tokens=_as_count(timings.get("predicted_n")), cached_tokens=cached
        )
    return None


def _message(error: Any) -> str:
    text = error.get("message", error) if isinstance(error, dict) else error
    return str(text)[:200]


def _plain_text(value: Any) -> str:
    """Text as it is, or out of a list of parts."""
    if isinstance(value, str):
        return value
    return "".join(_plain_text(_as_dict(part).get("text")) for part in _as_list(value))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**53 else 0
