"""One rollout by itself, as an iterator: for the time of a turn, and for conformance with released loops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial

from tts.aio import stream
from tts.ports.rollout_groups import GroupRequest, RolloutItem, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.loop import run_agent
from tts.rollout.text_coalescer import to_events


async def run_rollout(agent: Agent, group: GroupRequest, task: RolloutTask) -> AsyncIterator[RolloutItem]:
    """What `run_agent` sends, one by one. Closing it aborts the engine and the tools."""
    async with aclosing(stream(partial(run_agent, agent, group, agent.brief(group), task))) as items:
        async for item in items:
            for event in to_events([item]):
                yield event
