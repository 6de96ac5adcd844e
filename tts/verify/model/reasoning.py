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
    """Lets through what is streamed before and after a thought. `thinking` says that the text begins inside one."""

    def __init__(self, *, thinking: bool) -> None:
        self._thought: str | None = "" if thinking else None
        self._start: str | None = None if thinking else ""  # what may become the first tag; None once that is known

    def feed(self, piece: str) -> str:
        """The part of the text so far that is no thought and was not returned yet. A first tag may come in pieces."""
        if self._start is not None:
            self._start += piece
            if _OPEN.startswith(self._start.lstrip()) and _OPEN not in self._start:
                return ""
            piece = self._start
            self._start = None
            before, opened, inside = piece.partition(_OPEN)
            if opened:
                self._thought = ""
                return before.lstrip() + self._text_after_thought(inside)
        return piece if self._thought is None else self._text_after_thought(piece)

    def _text_after_thought(self, piece: str) -> str:
        self._thought = (self._thought or "") + piece
        _, closed, after = self._thought.partition(_CLOSE)
        if not closed:
            return ""
        self._thought = None
        return after
