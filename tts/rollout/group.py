"""A group of rollouts of one query, run side by side in one process, streamed back in batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from tts.aio import coalesce, merge
from tts.domain.events import merge_text
from tts.ports import GroupRequest, RolloutItem
from tts.rollout.loop import Agent, run_rollout


async def run_group(agent: Agent, group: GroupRequest, *, coalesce_s: float) -> AsyncIterator[Sequence[RolloutItem]]:
    """Items of all rollouts as they come, text merged, at most one batch every `coalesce_s` seconds."""
    rollouts = [run_rollout(agent, group, task) for task in group.tasks]
    async with aclosing(coalesce(merge(rollouts), window_s=coalesce_s)) as batches:
        async for batch in batches:
            yield merge_text(batch)


def split(n: int, size: int) -> list[range]:
    """`n` rollouts in groups of at most `size`, as equal as possible, so that no replica waits for another."""
    groups = -(-n // size)
    small, larger = divmod(n, groups)
    sizes = [small + 1] * larger + [small] * (groups - larger)
    starts = [sum(sizes[:i]) for i in range(groups)]
    return [range(start, start + length) for start, length in zip(starts, sizes, strict=True)]
