"""What a Rollout replica has taken on: rollouts in flight, and the tokens that its groups are expected to hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tts.domain.events import RolloutFinished, Text, TurnFinished
from tts.ports.rollout_groups import GroupRequest, RolloutItem

_MAX_REMEMBERED_REQUESTS = 1024  # whose prompts are remembered as read


class ReplicaLoad:
    """Counts groups from their start to their end. A rollout that ended gives its share back before its group does."""

    def __init__(self) -> None:
        self._groups: set[RunningGroup] = set()
        self._requests_read: OrderedDict[str, None] = OrderedDict()
        self.generations = 0

    @property
    def rollouts(self) -> int:
        """Rollouts of groups that have not ended, and generations for others: what a drain waits for."""
        return self.generations + sum(group.rollouts for group in self._groups)

    @property
    def open_rollouts(self) -> int:
        """Rollouts that have not ended, and generations for others."""
        return self.generations + sum(group.still_open for group in self._groups)

    @property
    def promised_tokens(self) -> int:
        """What the rollouts that have not ended are expected to hold in the end."""
        return sum(group.promised_tokens for group in self._groups)

    def has_read(self, request_id: str) -> bool:
        """Whether a rollout of the request wrote something here: the engine has their common prompt in its cache."""
        return request_id in self._requests_read

    @contextmanager
    def running(self, group: GroupRequest) -> Iterator[RunningGroup]:
        """Count the group until the block ends."""
        running = RunningGroup(self, group)
        self._groups.add(running)
        try:
            yield running
        finally:
            self._groups.discard(running)

    def remember_read(self, request_id: str) -> None:
        """Note that the engine has the prompt of a request."""
        self._requests_read[request_id] = None
        self._requests_read.move_to_end(request_id)
        if len(self._requests_read) > _MAX_REMEMBERED_REQUESTS:
            self._requests_read.popitem(last=False)


class RunningGroup:
    """One group of a replica."""

    def __init__(self, load: ReplicaLoad, group: GroupRequest) -> None:
        self._load = load
        self._request_id = group.context.id
        self.rollouts = self.still_open = len(group.tasks)
        self._tokens = group.kv_tokens

    @property
    def promised_tokens(self) -> int:
        """The share of the rollouts that have not ended."""
        return self._tokens * self.still_open // max(1, self.rollouts)

    def observe(self, items: Iterable[RolloutItem]) -> None:
        """Take note of first words and of ends."""
        for item in items:
            if isinstance(item, Text | TurnFinished):
                self._load.remember_read(self._request_id)
            elif isinstance(item, RolloutFinished):
                self.still_open -= 1
