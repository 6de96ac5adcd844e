"""A group of rollouts of one query, run side by side in one process, streamed back in batches.

With an engine that keeps prefixes the first rollout leads: the others start at its first token, when the engine has the
prompt and the photo in its caches, so that N rollouts cost one prefill and one vision encoding.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace

from tts.aio import Deadline, Send, batches, run_all
from tts.domain.description import Description
from tts.domain.events import RolloutFinished, RolloutResumed, RolloutStarted
from tts.ports.rollout_groups import GroupRequest, RolloutItem, RolloutTask
from tts.rollout.agent import Agent, Brief
from tts.rollout.loop import run_agent
from tts.rollout.text_coalescer import RolloutOutput, to_events

_UNFOLLOWED_WINDOW_S = 0.25
_ITEMS_BEFORE_TOKENS = (RolloutStarted, RolloutResumed, Description)
_URGENT_ITEMS = (RolloutFinished, Description)


async def run_group(
    agent: Agent, group: GroupRequest, *, coalesce_s: float, prefix_wait_s: float | None = None
) -> AsyncIterator[Sequence[RolloutItem]]:
    """Items of all rollouts as they come, text merged: one batch every `coalesce_s` seconds, and one at every end.

    `prefix_wait_s`: how long the others wait for the first token of the first; None: they all start at once.
    When nobody follows the request there are fewer batches: each costs every process on its way.
    """

    async def produce(send: Send[RolloutOutput]) -> None:
        brief = agent.brief(group, await agent.similar(group))
        if prefix_wait_s is not None and len(group.tasks) > 1:
            led = _LedGroup(agent, group, brief, send, prefix_wait_s)
            first, *others = group.tasks
            rollouts = [led.lead(first), *(led.follow(task) for task in others)]
        else:
            rollouts = [run_agent(agent, group, brief, task, send) for task in group.tasks]
        await run_all(rollouts)

    window_s = coalesce_s if group.followed else max(coalesce_s, _UNFOLLOWED_WINDOW_S)
    batched = batches(produce, window_s=window_s, urgent=lambda item: isinstance(item, _URGENT_ITEMS))
    async with aclosing(batched) as items:
        async for batch in items:
            yield to_events(batch)


@dataclass(frozen=True, slots=True)
class _LedGroup:
    """Rollouts of which all others wait for the first token of one."""

    agent: Agent
    group: GroupRequest
    brief: Brief
    send: Send[RolloutOutput]
    wait_s: float
    started: asyncio.Event = field(default_factory=asyncio.Event)

    async def lead(self, task: RolloutTask) -> None:
        """Sets `started` at its first token, or when it ends without one."""

        async def send_and_signal_start(item: RolloutOutput) -> None:
            if not isinstance(item, _ITEMS_BEFORE_TOKENS):
                self.started.set()
            await self.send(item)

        try:
            await run_agent(self.agent, self.group, self.brief, task, send_and_signal_start)
        finally:
            self.started.set()

    async def follow(self, task: RolloutTask) -> None:
        """Waits for the first token of the leader, within the rollout's own time, and no longer than `wait_s`."""
        deadline = Deadline(self.group.context.remaining_s)
        with suppress(TimeoutError):
            async with deadline.timeout(), asyncio.timeout(self.wait_s):
                await self.started.wait()
        context = self.group.context.model_copy(update={"remaining_s": deadline.remaining_s()})
        await run_agent(self.agent, replace(self.group, context=context), self.brief, task, self.send)


def split(n: int, size: int) -> list[range]:
    """`n` rollouts in groups of at most `size`, as equal as possible, so that no replica waits for another."""
    groups = -(-n // size)
    small, larger = divmod(n, groups)
    sizes = [small + 1] * larger + [small] * (groups - larger)
    starts = [sum(sizes[:i]) for i in range(groups)]
    return [range(start, start + length) for start, length in zip(starts, sizes, strict=True)]
