"""Several models that share the rollouts of a request, as one `Rollouts` port (ADR 0043).

Each rollout, in the order of numbers, goes to the model that is farthest below its share, so that the first n of them
are always divided as evenly as n allows, in whatever groups they come. A model that does not answer loses its rollouts
to the others: they start again there, and `rollout_resumed` says why.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from tts.aio import Deadline, GrowingMerge
from tts.config import EngineShare
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutResumed, RolloutStarted
from tts.domain.failure import RolloutFailure
from tts.domain.usage import Usage
from tts.ports.closable import close_each
from tts.ports.model_client import ModelClient
from tts.ports.rollout_groups import GroupRequest, RolloutItem, Rollouts, RolloutTask

_ENGINE_FAILURES = frozenset({"model", "overloaded", "replica-lost", "silent"})


class RolloutsHere(Rollouts, Protocol):
    """Rollouts whose engines this process has."""

    @property
    def engines(self) -> tuple[ModelClient, ...]:
        """The engines, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A model with its part, and what runs its rollouts in the dialect of this model."""

    share: EngineShare
    rollouts: RolloutsHere


class MixtureRollouts:
    """The `Rollouts` port over those of several models."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = {member.share.name: member for member in members}
        self._shares = {member.share.name: member.share.share for member in members}

    @property
    def engines(self) -> tuple[ModelClient, ...]:
        """Those of all members."""
        return tuple(engine for member in self._members.values() for engine in member.rollouts.engines)

    def group_size(self, group: GroupRequest) -> int:
        """All: the rollouts of a query go in one group, which is divided here."""
        return len(group.tasks)

    async def aclose(self) -> None:
        """Close the connections of all models."""
        await close_each(*(member.rollouts for member in self._members.values()))

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Batches of all models as they come; each rollout says of which it is."""
        assignment = _RolloutAssignment(group, self._shares)
        async with GrowingMerge[tuple[str, Sequence[RolloutItem]]]() as merged:
            for name, tasks in assignment.first().items():
                merged.add(self._run_member(name, assignment.part(tasks)))
            while batches := await merged.take():
                for name, batch in batches:
                    forwarded, moved = assignment.observe(name, batch)
                    if forwarded:
                        yield forwarded
                    for other, task in moved:
                        merged.add(self._run_member(other, assignment.part([task])))

    async def _run_member(self, name: str, group: GroupRequest) -> AsyncIterator[tuple[str, Sequence[RolloutItem]]]:
        member = self._members[name]
        own = replace(group, limits=member.share.limits_within(group.limits))
        async for batch in member.rollouts.run(own):
            yield name, batch


class _RolloutAssignment:
    """Which model has which rollout of a group, which models did not answer to it, and what they used."""

    def __init__(self, group: GroupRequest, shares: dict[str, float]) -> None:
        self._group = group
        self._shares = shares
        self._deadline = Deadline(group.context.remaining_s)
        self._tasks = {task.rollout_id: task for task in group.tasks}
        self._tried_models: dict[int, set[str]] = {i: set() for i in self._tasks}
        self._usage_before = dict.fromkeys(self._tasks, Usage())

    def first(self) -> dict[str, list[RolloutTask]]:
        """The rollouts of the group by model; one that goes on stays with the model that it was of."""
        planned = assign_models(self._shares, 1 + max(self._tasks, default=-1))
        by_name: dict[str, list[RolloutTask]] = {}
        for i, task in self._tasks.items():
            name = task.source if task.source in self._shares else planned[i]
            by_name.setdefault(name, []).append(task)
        return by_name

    def part(self, tasks: Sequence[RolloutTask]) -> GroupRequest:
        """The group with these rollouts only, and the time that is left."""
        context = self._group.context.model_copy(update={"remaining_s": self._deadline.remaining_s()})
        return replace(self._group, tasks=tuple(tasks), context=context)

    def observe(
        self, name: str, batch: Sequence[RolloutItem]
    ) -> tuple[list[RolloutItem], list[tuple[str, RolloutTask]]]:
        """The items of a batch to pass on, and the rollouts that another model takes over."""
        forwarded: list[RolloutItem] = []
        moved: list[tuple[str, RolloutTask]] = []
        for item in batch:
            if isinstance(item, RolloutStarted):
                forwarded.append(item.model_copy(update={"source": name}))
            elif isinstance(item, RolloutFinished) and (other := self._next_model(name, item)) is not None:
                assert item.failure is not None
                forwarded.append(
                    RolloutResumed(rollout_id=item.rollout_id, from_turn=-1, moved=_failure_text(name, item.failure))
                )
                moved.append((other, replace(self._tasks[item.rollout_id], resume_from=None)))
                self._usage_before[item.rollout_id] += item.usage
            elif isinstance(item, RolloutFinished):
                used = self._usage_before[item.rollout_id] + item.usage
                forwarded.append(item.model_copy(update={"usage": used}))
            else:
                forwarded.append(item)
        return forwarded, moved

    def _next_model(self, name: str, ended: RolloutFinished) -> str | None:
        """The model that a rollout goes to whose model did not answer: the largest share that has not tried it."""
        tried = self._tried_models[ended.rollout_id]
        tried.add(name)
        if ended.stop_reason is not StopReason.FAILED or not _is_down(ended) or self._deadline.has_passed:
            return None
        untried = [other for other in self._shares if other not in tried]
        return max(untried, key=lambda other: self._shares[other], default=None)


def assign_models(shares: dict[str, float], n: int) -> list[str]:
    """The models of rollouts 0 to n - 1: each time the one that is farthest behind its share, the first of equals."""
    total = sum(shares.values())
    had = dict.fromkeys(shares, 0)
    order: list[str] = []
    for number in range(1, n + 1):
        behind = partial(_rollouts_below_share, shares, had, number, total)
        order.append(max(shares, key=behind))
        had[order[-1]] += 1
    return order


def _rollouts_below_share(shares: dict[str, float], had: dict[str, int], number: int, total: float, name: str) -> float:
    return round(number * shares[name] / total - had[name], 9)


def _is_down(ended: RolloutFinished) -> bool:
    """Whether the engine did not work, and not this conversation."""
    failure = ended.failure
    if failure is None or failure.code not in _ENGINE_FAILURES or failure.about:
        return False
    return bool(failure.endpoint) or failure.code != "model" or not ended.usage.turns


def _failure_text(name: str, failure: RolloutFailure) -> str:
    return f"{name} did not answer ({failure.text})"
