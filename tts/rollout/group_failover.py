"""A group of rollouts that outlives the replica it runs on.

Every finished turn leaves a checkpoint. When the replica or its engine dies, the rollouts that were still open are sent
again, each from its last checkpoint, with the time that is left. What they said after it is void, which
`rollout_resumed` tells everyone who folds the events. When there is no time left, or nobody takes them, they end as
failed with their best hypothesis: a lost replica costs the request no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from tts.aio import Deadline, closing
from tts.domain.answer import StopReason
from tts.domain.description import Description
from tts.domain.events import RolloutFinished, RolloutResumed, RolloutStarted
from tts.domain.failure import RolloutFailure
from tts.domain.usage import Usage
from tts.errors import FatalError, GeoTTSError, Overloaded, ReplicaLost
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutItem
from tts.ports.toolbox import Attachment

MOVES = 12
_FIRST_PAUSE_S = 0.1
_MAX_PAUSE_S = 2.0

Runner = Callable[[GroupRequest], AsyncIterator[Sequence[RolloutItem]]]


async def run_with_failover(group: GroupRequest, run: Runner) -> AsyncIterator[Sequence[RolloutItem]]:
    """Batches of `run(group)`, and after a loss those of the unfinished rollouts, which run on another replica."""
    deadline = Deadline(group.context.remaining_s)
    progress = _Progress(group)
    for move in range(MOVES + 1):
        try:
            async with closing(run(progress.remaining_group(deadline))) as batches:
                async for batch in batches:
                    progress.observe(batch)
                    yield batch
            return
        except GeoTTSError as error:
            if progress.is_finished:
                return
            failure = error
        pause_s = min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2**move)
        movable = isinstance(failure, ReplicaLost | FatalError) or (move > 0 and isinstance(failure, Overloaded))
        if not movable or move == MOVES or pause_s >= deadline.remaining_s():
            break
        await asyncio.sleep(pause_s)
        if void := progress.void_events():
            yield void
    yield progress.failure_events(RolloutFailure.from_error(failure))


class _Progress:
    """How far each rollout of a group has come, by the batches that this process received."""

    def __init__(self, group: GroupRequest) -> None:
        self._group = group
        self._unfinished_tasks = {task.rollout_id: task for task in group.tasks}
        self._started_ids: set[int] = set()
        self._checkpoints = {task.rollout_id: task.resume_from for task in group.tasks}
        self._files = dict(group.files)
        self._descriptions = dict(group.context.described)

    def observe(self, batch: Sequence[RolloutItem]) -> None:
        for item in batch:
            if isinstance(item, RolloutFinished):
                self._unfinished_tasks.pop(item.rollout_id, None)
            elif isinstance(item, Checkpoint):
                self._checkpoints[item.rollout_id] = item
            elif isinstance(item, Attachment):
                self._files[item.sha256] = item.data
            elif isinstance(item, Description):
                self._descriptions[item.photo_sha256] = item.text
            elif isinstance(item, RolloutStarted):
                self._started_ids.add(item.rollout_id)

    @property
    def is_finished(self) -> bool:
        return not self._unfinished_tasks

    def remaining_group(self, deadline: Deadline) -> GroupRequest:
        """The group without its finished rollouts. Each other rollout starts from its last known checkpoint."""
        tasks = tuple(replace(task, resume_from=self._checkpoints[i]) for i, task in self._unfinished_tasks.items())
        changes = {"remaining_s": deadline.remaining_s(), "described": self._descriptions}
        context = self._group.context.model_copy(update=changes)
        return replace(self._group, context=context, tasks=tasks, files=self._files)

    def void_events(self) -> list[RolloutItem]:
        """Events for rollouts that start again: their earlier events are void. Resumed rollouts emit this event
        themselves."""
        restarted_ids = [i for i in self._unfinished_tasks if self._checkpoints[i] is None and i in self._started_ids]
        return [RolloutResumed(rollout_id=i, from_turn=-1) for i in restarted_ids]

    def failure_events(self, failure: RolloutFailure) -> list[RolloutItem]:
        finished: list[RolloutItem] = []
        for i in sorted(self._unfinished_tasks):
            checkpoint = self._checkpoints[i]
            finished.append(
                RolloutFinished(
                    rollout_id=i,
                    stop_reason=StopReason.FAILED,
                    answer=checkpoint.best if checkpoint is not None else None,
                    usage=checkpoint.usage if checkpoint is not None else Usage(),
                    error=f"{failure.code}: {failure.detail}",
                    failure=failure,
                )
            )
        return finished
