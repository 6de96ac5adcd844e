"""Separates the reasoning of a thinking model from its reply.

Servers split the reasoning off, or leave it in the text up to `</think>`; the engines put it back between its tags. It
is never read as the opinion, and a thinking model is never bound by a grammar, which would cut its thought off.
"""

from __future__ import annotations

from typing import Final

_THOUGHT_START: Final = "<think>"
_THOUGHT_END: Final = "</think>"
# Names under which models that always think are published (Qwen3-VL-*-Thinking, QwQ, DeepSeek-R1, gpt-oss, o1 to o4).
_THINKING_MODELS: Final = ("thinking", "qwq", "deepseek-r1", "reasoner", "gpt-oss")


def thinks_by_name(model: str) -> bool:
    """Whether a model of this name writes its thoughts before its answer."""
    name = model.rpartition("/")[2].lower()
    return any(part in name for part in _THINKING_MODELS)


def without_thought(text: str) -> str:
    """What stands after the last thought; nothing where a thought was begun and not ended."""
    before, closed, after = text.rpartition(_THOUGHT_END)
    if closed:
        return after
    return text.partition(_THOUGHT_START)[0] if _THOUGHT_START in text else before + after


class ThoughtGate:
    """Lets through what is streamed before and after a thought. `thinking` says that the text begins inside one."""

    def __init__(self, *, thinking: bool) -> None:
        self._thought: str | None = "" if thinking else None
        # what may become the first tag; None once that is known
        self._possible_tag: str | None = None if thinking else ""

    def feed(self, piece: str) -> str:
        """The part of the text so far that is no thought and was not returned yet. A first tag may come in pieces."""
        if self._possible_tag is not None:
            self._possible_tag += piece
            if _THOUGHT_START.startswith(self._possible_tag.lstrip()) and _THOUGHT_START not in self._possible_tag:
                return ""
            piece = self._possible_tag
            self._possible_tag = None
            before, opened, inside = piece.partition(_THOUGHT_START)
            if opened:
                self._thought = ""
                return before.lstrip() + self._text_after_thought(inside)
        return piece if self._thought is None else self._text_after_thought(piece)

    def _text_after_thought(self, piece: str) -> str:
        self._thought = (self._thought or "") + piece
        _, closed, after = self._thought.partition(_THOUGHT_END)
        if not closed:
            return ""
        self._thought = None
        return after
