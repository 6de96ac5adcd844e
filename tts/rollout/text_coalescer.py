"""Merges the text of a rollout: new text is appended to the pending text until a reader takes it.

So the text of a batch is one event, whatever the number of tokens, and a token costs no more than being appended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tts.aio import Send
from tts.domain.events import Text
from tts.ports.rollout_groups import RolloutItem


@dataclass(slots=True, eq=False)
class PendingText:
    """Text of one turn that may still grow; not after `event`."""

    rollout_id: int
    turn: int
    words: list[str]
    is_taken: bool = False

    def event(self) -> Text:
        """All words so far as one event; marks them as taken."""
        self.is_taken = True
        return Text(rollout_id=self.rollout_id, turn=self.turn, text="".join(self.words))


RolloutOutput = RolloutItem | PendingText


class TextCoalescer:
    """Sends the text of one turn."""

    def __init__(self, rollout_id: int, turn: int, send: Send[RolloutOutput]) -> None:
        self._rollout_id = rollout_id
        self._turn = turn
        self._send = send
        self._pending: PendingText | None = None

    async def append(self, words: str) -> None:
        """Append to the pending piece of text, or send a new one if the reader has taken it."""
        if self._pending is not None and not self._pending.is_taken:
            self._pending.words.append(words)
            return
        self._pending = PendingText(self._rollout_id, self._turn, [words])
        await self._send(self._pending)

    def pause(self) -> None:
        """Text that follows comes after the other items that were sent."""
        self._pending = None


def to_events(items: Iterable[RolloutOutput]) -> list[RolloutItem]:
    """The items as they go on: text as events."""
    return [item.event() if isinstance(item, PendingText) else item for item in items]
