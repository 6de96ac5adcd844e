"""How much KV cache a rollout is expected to take: learned from those that ended, per process.

What the first turn reads is what rollouts of a request share. Every later turn reads what the ones before it wrote and
found, so the growth from the first prompt to the end of the last turn is a rollout's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tts.domain.events import RolloutFinished, RolloutResumed, TurnFinished
from tts.domain.plan import Limits
from tts.domain.usage import Usage
from tts.ports.rollout_groups import RolloutItem
from tts.rollout.group_size import RolloutSize

# Until rollouts have ended: those of `tts.routing.depth_router`, a deep rollout of four turns. It reads a system text
# with tools of 1,500 tokens and a photo of 2,000, writes 1,500 and gets results of 2,000.
_USUAL_FIRST_PROMPT = 3500.0
_USUAL_TURNS = 4.0
_USUAL_TURN_TOKENS = 875.0
_MEMORY = 32  # rollouts over which a mean forgets


@dataclass(slots=True)
class _Mean:
    """Follows a value that may change; counts the first ones in full."""

    value: float
    count: int = 0

    def add(self, seen: float) -> None:
        self.count = min(_MEMORY, self.count + 1)
        self.value += (seen - self.value) / self.count


@dataclass(slots=True)
class _Turns:
    """The prompts of a rollout so far."""

    usage: Usage = field(default_factory=Usage)
    first_prompt: int = 0
    last_length: int = 0


class ExpectedSize:
    """Follows the rollouts of one process. First prompts by photo, turns, and their growth are means over requests."""

    def __init__(self) -> None:
        self._first = _Mean(_USUAL_FIRST_PROMPT)
        self._turns = _Mean(_USUAL_TURNS)
        self._turn = _Mean(_USUAL_TURN_TOKENS)

    def size_of(self, photos: int, limits: Limits) -> RolloutSize:
        """What a rollout within `limits` about so many photos is expected to hold in the end, in tokens."""
        turns = min(self._turns.value, limits.max_turns)
        return RolloutSize(shared=round(max(1, photos) * self._first.value), own=round(turns * self._turn.value))

    def follow(self, photos: int) -> FollowedGroup:
        """For the items of a group about so many photos."""
        return FollowedGroup(self, max(1, photos))

    def learn(self, turns: int, first_prompt: float, growth: int) -> None:
        """Count a rollout that ended.

        Args:
            turns: how many it had.
            first_prompt: tokens that its first turn read, by photo.
            growth: tokens by which its conversation grew after that.
        """
        self._first.add(first_prompt)
        self._turns.add(turns)
        self._turn.add(growth / turns)


class FollowedGroup:
    """The rollouts of one group, as their items come."""

    def __init__(self, expected: ExpectedSize, photos: int) -> None:
        self._expected = expected
        self._photos = photos
        self._rollouts: dict[int, _Turns] = {}

    def observe(self, items: Iterable[RolloutItem]) -> None:
        """Take note of turns and ends. A rollout that went on from a checkpoint was not seen whole: it is left out."""
        for item in items:
            if isinstance(item, RolloutResumed):
                self._rollouts[item.rollout_id] = _Turns(first_prompt=-1)
            elif isinstance(item, TurnFinished):
                self._turn(item)
            elif isinstance(item, RolloutFinished):
                self._end(self._rollouts.pop(item.rollout_id, _Turns()), item.usage.turns)

    def _end(self, seen: _Turns, turns: int) -> None:
        if seen.first_prompt > 0 and turns:
            growth = max(0, seen.last_length - seen.first_prompt)
            self._expected.learn(turns, seen.first_prompt / self._photos, growth)

    def _turn(self, event: TurnFinished) -> None:
        seen = self._rollouts.setdefault(event.rollout_id, _Turns())
        read = event.usage.prompt_tokens - seen.usage.prompt_tokens
        written = event.usage.completion_tokens - seen.usage.completion_tokens
        seen.first_prompt = seen.first_prompt or read
        seen.last_length = max(seen.last_length, read + written)
        seen.usage = event.usage
