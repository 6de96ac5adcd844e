"""How many rollouts of a request travel together, by the room that engines have.

Together they share a prompt and a photo in one cache. But a group that an engine cannot hold is preempted: it computes
turns twice. So a request is split, into as few groups as fit, and into none that would go where another one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RolloutSize:
    """Tokens of KV cache: what the rollouts of a request have in common, and what each has of its own in the end."""

    shared_tokens: int
    own_tokens: int

    def tokens(self, rollouts: int) -> int:
        """What a group of so many holds in the end."""
        return self.shared_tokens + rollouts * self.own_tokens


@dataclass(frozen=True, slots=True)
class Room:
    """What an engine can still take: tokens of its KV cache, and generations side by side. None: it does not say."""

    tokens: int | None = None
    slots: int | None = None

    def n_fitting(self, size: RolloutSize, most: int) -> int:
        """How many rollouts of a request fit, `most` at most; all of them where nothing is known."""
        fit = most if self.slots is None else min(most, self.slots)
        if self.tokens is None:
            return max(0, fit)
        return max(0, min(fit, (self.tokens - size.shared_tokens) // max(1, size.own_tokens)))


def group_size(n: int, rooms: Iterable[Room], size: RolloutSize, most: int | None = None) -> int:
    """How many of `n` rollouts share a replica, 1 to `n`.

    All of them, where one replica has room for all. Else the largest part that fits when the rollouts are divided
    equally among the roomiest replicas, each of which gets one part. Where no such division fits, equal parts for all
    replicas: then they are full, and the load is to be the same everywhere.

    Args:
        n: rollouts to start now.
        rooms: of every replica that says so. Without any, all stay together.
        size: what one rollout is expected to hold.
        most: a limit that the operator set.
    """
    largest = n if most is None else min(n, most)
    capacities = sorted((room.n_fitting(size, n) for room in rooms), reverse=True)
    if not capacities:
        return largest
    shares = (-(-n // parts) for parts in range(1, len(capacities) + 1))
    fitting = (share for share, fit in zip(shares, capacities, strict=True) if share <= fit)
    return min(largest, next(fitting, -(-n // len(capacities))))
