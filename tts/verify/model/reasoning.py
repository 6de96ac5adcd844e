"""Separates the reasoning of a thinking model from its reply.

Servers split the reasoning off, or leave it in the text up to `</think>`; the engines put it back between its tags. It
is never read as the opinion, and a thinking model is never bound by a grammar, which would cut its thought off.
"""

from __future__ import annotations

from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
# Names under which models that always think are published (Qwen3-VL-*-Thinking, QwQ, DeepSeek-R1, gpt-oss, o1 to o4).
_THINKERS: Final = ("thinking", "qwq", "deepseek-r1", "reasoner", "gpt-oss")


def thinks_by_name(model: str) -> bool:
    """Whether a model of this name writes its thoughts before its answer."""
    name = model.rpartition("/")[2].lower()
    return any(part in name for part in _THINKERS)


def without_thought(text: str) -> str:
    """What stands after the last thought; nothing where a thought was begun and not ended."""
    before, closed, after = text.rpartition(_CLOSE)
    if closed:
        return after
    return text.partition(_OPEN)[0] if _OPEN in text else before + after


class ThoughtGate:
    """Lets through what is streamed after a thought. `thinking` says that the text begins inside one."""

    def __init__(self, *, thinking: bool) -> None:
        self._held: str | None = "" if thinking else None
        self._fresh = True

    def feed(self, piece: str) -> str:
        """The part of the piece that is no thought."""
        if self._held is None and self._fresh and _OPEN in piece:
            self._held = ""
        self._fresh = self._fresh and not piece.strip()
        if self._held is None:
            return piece
        self._held += piece
        _, closed, after = self._held.partition(_CLOSE)
        if not closed:
            return ""
        self._held = None
        return after
