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
_USUAL_PROMPT_TOKENS = 3500.0
_USUAL_TURNS = 4.0
_USUAL_GROWTH_TOKENS = 875.0
_MEAN_WINDOW_ROLLOUTS = 32  # rollouts over which a mean forgets


@dataclass(slots=True)
class _RunningMean:
    """Follows a value that may change; counts the first ones in full."""

    value: float
    count: int = 0

    def add(self, new_value: float) -> None:
        self.count = min(_MEAN_WINDOW_ROLLOUTS, self.count + 1)
        self.value += (new_value - self.value) / self.count


@dataclass(slots=True)
class _RolloutProgress:
    """The prompts of a rollout so far."""

    usage: Usage = field(default_factory=Usage)
    first_prompt: int = 0
    last_length: int = 0


class ExpectedSize:
    """Follows the rollouts of one process. First prompts by photo, turns, and their growth are means over requests."""

    def __init__(self) -> None:
        self._first_prompt_tokens = _RunningMean(_USUAL_PROMPT_TOKENS)
        self._turn_count = _RunningMean(_USUAL_TURNS)
        self._growth_per_turn = _RunningMean(_USUAL_GROWTH_TOKENS)

    def size_of(self, photos: int, limits: Limits) -> RolloutSize:
        """What a rollout within `limits` about so many photos is expected to hold in the end, in tokens."""
        turns = min(self._turn_count.value, limits.max_turns)
        return RolloutSize(
            shared_tokens=round(max(1, photos) * self._first_prompt_tokens.value),
            own_tokens=round(turns * self._growth_per_turn.value),
        )

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
        self._first_prompt_tokens.add(first_prompt)
        self._turn_count.add(turns)
        self._growth_per_turn.add(growth / turns)


class FollowedGroup:
    """The rollouts of one group, as their items come."""

    def __init__(self, expected: ExpectedSize, photos: int) -> None:
        self._expected_size = expected
        self._photo_count = photos
        self._progress_by_rollout: dict[int, _RolloutProgress] = {}

    def observe(self, items: Iterable[RolloutItem]) -> None:
        """Take note of turns and ends. A rollout that went on from a checkpoint was not seen whole: it is left out."""
        for item in items:
            if isinstance(item, RolloutResumed):
                self._progress_by_rollout[item.rollout_id] = _RolloutProgress(first_prompt=-1)
            elif isinstance(item, TurnFinished):
                self._record_turn(item)
            elif isinstance(item, RolloutFinished):
                self._learn_from(self._progress_by_rollout.pop(item.rollout_id, _RolloutProgress()), item.usage.turns)

    def _learn_from(self, progress: _RolloutProgress, turns: int) -> None:
        if progress.first_prompt > 0 and turns:
            growth = max(0, progress.last_length - progress.first_prompt)
            self._expected_size.learn(turns, progress.first_prompt / self._photo_count, growth)

    def _record_turn(self, event: TurnFinished) -> None:
        progress = self._progress_by_rollout.setdefault(event.rollout_id, _RolloutProgress())
        read = event.usage.prompt_tokens - progress.usage.prompt_tokens
        written = event.usage.completion_tokens - progress.usage.completion_tokens
        progress.first_prompt = progress.first_prompt or read
        progress.last_length = max(progress.last_length, read + written)
        progress.usage = event.usage
