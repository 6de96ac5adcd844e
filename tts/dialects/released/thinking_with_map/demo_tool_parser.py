"""How the notebook's agent takes a message apart (demo/qwen_agent/llm/fncall_prompts/nous_fncall_prompt.py)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from tts.dialects.released.json5 import read_json5

_OPEN_TAG: Final = "<tool_call>"
_CLOSE_TAG: Final = "</tool_call>"
_THOUGHT_END_TAG: Final = "</think>"
_BEFORE_NAME: Final = '"name": "'
_AFTER_NAME: Final = '", "'
_BEFORE_ARGUMENTS: Final = '"arguments": '


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that stand together in one message of the agent."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A call, a message of its own: its name, and its arguments as a text that need not be JSON."""

    name: str
    arguments: str


Piece = Texts | CallMessage


@dataclass(slots=True)
class _Pieces:
    found: list[Piece] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def close(self) -> None:
        if self.texts:
            self.found.append(Texts(tuple(self.texts)))
            self.texts = []


def parse_message(text: str) -> tuple[Piece, ...]:
    """A message as the agent keeps it: what is said, and the calls. Calls inside a thought are not read."""
    pieces = _Pieces()
    if "<think>" in text:
        thought, tag, text = text.rpartition(_THOUGHT_END_TAG)
        if not tag:
            return (Texts((text,)),)
        pieces.texts.append(thought + tag)
    before, *tagged = text.split(_OPEN_TAG)
    if not tagged:
        pieces.texts += [text] if text else []
    elif before.strip():
        pieces.texts.append(before)
    for body in tagged:
        _read_piece(body, pieces)
    pieces.close()
    return tuple(pieces.found)


def _read_piece(body: str, pieces: _Pieces) -> None:
    if not body.strip():
        return
    inner, closed, _ = body.partition(_CLOSE_TAG)
    if not closed and not _cut_out_call(body).name:
        return  # cut off before its name
    pieces.close()
    call = _parse_call(inner.strip()) if closed else _cut_out_call(body)
    if call is not None:
        pieces.found.append(call)


def _parse_call(inner: str) -> CallMessage | None:
    """A closed call: JSON5, else cut out of the text; None for JSON5 without a name and arguments."""
    try:
        value = read_json5(inner)
    except ValueError:
        return _cut_out_call(inner)
    if not isinstance(value, dict) or "name" not in value or "arguments" not in value:
        return None
    return CallMessage(str(value["name"]), json.dumps(value["arguments"], ensure_ascii=False))


def _cut_out_call(text: str) -> CallMessage:
    """Name and arguments by the marks around them, for what is no JSON5; both may be empty."""
    name = arguments = ""
    at = text.find(_BEFORE_NAME)
    if at > 0:
        rest = text[at + len(_BEFORE_NAME) :]
        name = rest.partition(_AFTER_NAME)[0] if _AFTER_NAME in rest else ""
    at = text.find(_BEFORE_ARGUMENTS)
    if at > 0:
        arguments = text[at + len(_BEFORE_ARGUMENTS) :].strip()
    return CallMessage(name, arguments[:-1] if len(arguments) > 2 else "")


def format_message(pieces: tuple[Piece, ...]) -> str:
    """The message as it goes back to the model: texts as they are, calls as strict JSON between tags."""
    text = ""
    for piece in pieces:
        if text and not text.endswith("\n"):
            text += "\n"
        text += "".join(piece.texts) if isinstance(piece, Texts) else _tagged_text(piece)
    return text


def _tagged_text(call: CallMessage) -> str:
    try:
        arguments = read_json5(call.arguments)
    except ValueError:
        arguments = call.arguments
    return f"<tool_call>\n{json.dumps({'name': call.name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
