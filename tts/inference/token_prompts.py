"""A conversation as token ids, so that the prefix cache of the engine always hits.

The output of the model is never tokenised again: its token ids are inserted unchanged, between the ids of the text
around them. That text comes from the model's own chat template, rendered with a mark in place of every assistant
message. Invariant: the ids of turn t begin with the ids of turn t-1 and what the engine generated then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tts.dialects.hermes_tool_parser import as_plain_chat, wire_schema
from tts.domain.messages import Message, TextPart
from tts.domain.tooling import ImageRef
from tts.latest_entries import LatestEntries
from tts.ports.toolbox import ToolSchema

_ASSISTANT_MARK = "\ue000assistant\ue001"
_MAX_SESSIONS = 1024


class Tokenizer(Protocol):
    """What a conversation needs of a tokenizer; `render` is the model's chat template."""

    @property
    def end_of_turn(self) -> int:
        """Id of the token that ends an assistant message."""
        ...

    @property
    def lists_tools(self) -> bool:
        """Whether the chat template lists tools; where it does not, they stand in the system text (hermes)."""
        ...

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        """The text of the conversation, ending with the opening of an assistant message."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; the tokenizer adds no special tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids with one placeholder a picture, and the pictures in that order."""

    token_ids: list[int]
    images: tuple[ImageRef, ...]


@dataclass(frozen=True, slots=True)
class _KnownPrompt:
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    token_ids: tuple[int, ...]


class TokenPrompts:
    """Turns messages into prompts. Remembers the last prompt of each session: losing it costs time, never a token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known_prompts: LatestEntries[str, _KnownPrompt] = LatestEntries(_MAX_SESSIONS)

    def prompt(self, session_id: str, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> Prompt:
        """`tools` are those the conversation lists, the same in all its turns."""
        all_messages = tuple(messages)
        before = self._known_prompts.get(session_id)
        if before is not None and _continues_conversation(all_messages, tools, before):
            ids = [*before.token_ids, *self._ids_after(all_messages, len(before.messages), tools)]
        else:
            ids = self._ids_from_start(all_messages, tools)
        self._known_prompts[session_id] = _KnownPrompt(all_messages, tools, tuple(ids))
        return Prompt(ids, tuple(image for message in all_messages for image in message.images))

    def _ids_from_start(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> list[int]:
        first = next((i for i, message in enumerate(messages) if message.role == "assistant"), len(messages))
        ids = self._tokenizer.encode(self._render(messages[:first], tools))
        return ids + self._ids_after(messages, first, tools)

    def _ids_after(self, messages: tuple[Message, ...], start: int, tools: tuple[ToolSchema, ...]) -> list[int]:
        """Ids from the assistant message at `start` on; each stretch of text is tokenised by itself."""
        ids: list[int] = []
        at = start
        while at < len(messages):
            after = next((i for i in range(at + 1, len(messages)) if messages[i].role == "assistant"), len(messages))
            between = self._tokenizer.encode(self._render(messages[:after], tools).rpartition(_ASSISTANT_MARK)[2])
            mine = self._ids_of(messages[at])
            if mine[-1:] == between[:1] == [self._tokenizer.end_of_turn]:
                mine.pop()
            ids += mine + between
            at = after
        return ids

    def _ids_of(self, message: Message) -> list[int]:
        if message.token_ids is not None:
            return list(message.token_ids)
        return self._tokenizer.encode(as_plain_chat((message,), ())[0].text)

    def _render(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> str:
        marked = [_mark_assistant(message) for message in messages]
        native = self._tokenizer.lists_tools
        plain = [_plain_message(message) for message in as_plain_chat(marked, () if native else tools)]
        return self._tokenizer.render(plain, [wire_schema(tool) for tool in tools] if tools and native else None)


def _continues_conversation(messages: tuple[Message, ...], tools: tuple[ToolSchema, ...], before: _KnownPrompt) -> bool:
    """The same conversation, at most some turns on."""
    kept = len(before.messages)
    if tools != before.tools or messages[:kept] != before.messages:
        return False
    return len(messages) == kept or messages[kept].role == "assistant"


def _mark_assistant(message: Message) -> Message:
    return (
        Message(role="assistant", parts=(TextPart(text=_ASSISTANT_MARK),)) if message.role == "assistant" else message
    )


def _plain_message(message: Message) -> dict[str, Any]:
    """As chat templates take it: a string, or parts when there are pictures among them."""
    if not message.images:
        return {"role": message.role, "content": message.text}
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image"}
        for part in message.parts
    ]
    return {"role": message.role, "content": parts}
