"""Separates the reasoning of a thinking model from its reply.

Servers split the reasoning off, or leave it in the text up to `</think>`; the engines put it back between its tags. It
is never read as the opinion, and a thinking model is never bound by a grammar, which would cut its thought off.
"""

from __future__ import annotations

from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
# Names under which models that always think are published (Qwen3-VL-*-Thinking, QwQ, DeepSeek-R1, gpt-oss, o1 to o4).
_THINKING_MODELS: Final = ("thinking", "qwq", "deepseek-r1", "reasoner", "gpt-oss")


def thinks_by_name(model: str) -> bool:
    """Whether a model of this name writes its thoughts before its answer."""
    name = model.rpartition("/")[2].lower()
    return any(part in name for part in _THINKING_MODELS)


def without_thought(text: str) -> str:
    """What stands after the last thought; nothing where a thought was begun and not ended."""
    before, closed, after = text.rpartition(_CLOSE)
    if closed:
        return after
    return text.partition(_OPEN)[0] if _OPEN in text else before + after


class ThoughtGate:
    """Lets through what is streamed after a thought. `thinking` says that the text begins inside one."""

    def __init__(self, *, thinking: bool) -> None:
        self._thought_buffer: str | None = "" if thinking else None
        self._is_at_start = True

    def feed(self, piece: str) -> str:
        """The part of the piece that is no thought."""
        if self._thought_buffer is None and self._is_at_start and _OPEN in piece:
            self._thought_buffer = ""
        self._is_at_start = self._is_at_start and not piece.strip()
        if self._thought_buffer is None:
            return piece
        self._thought_buffer += piece
        _, closed, after = self._thought_buffer.partition(_CLOSE)
        if not closed:
            return ""
        self._thought_buffer = None
        return after
