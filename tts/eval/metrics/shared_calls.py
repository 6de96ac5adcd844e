"""How alike the rollouts of a request begin: which of their first tool calls a sibling makes as well.

A call that a sibling makes too shows nothing new. Two calls are the same if tool and arguments are equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from tts.domain.tooling import ToolCall
from tts.domain.trajectory import Trajectory

FIRST_TURNS = 2


def shared_calls(trajectories: Sequence[Trajectory], turns: int = FIRST_TURNS) -> tuple[int, int]:
    """Of the tool calls in the first `turns` turns: how many a sibling makes in these turns too, and how many there
    are. A call that one rollout repeats counts once."""
    made = [_first_calls(trajectory, turns) for trajectory in trajectories]
    rollouts_with = Counter(call for calls in made for call in calls)
    shared = sum(number for number in rollouts_with.values() if number > 1)
    return shared, sum(rollouts_with.values())


def _first_calls(trajectory: Trajectory, turns: int) -> set[str]:
    return {_key(call) for turn in trajectory.turns if turn.index < turns for call in turn.calls}


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True, ensure_ascii=False)
