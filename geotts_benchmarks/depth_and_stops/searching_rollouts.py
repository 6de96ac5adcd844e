"""Rollouts of a scripted model in this process, whose search always returns the same text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from tts.aio import closing
from tts.dialects import DIALECTS
from tts.domain.tooling import ToolCall
from tts.ports.model_client import ModelClient
from tts.ports.rollout_groups import GroupRequest, RolloutItem
from tts.ports.toolbox import ToolContext, ToolOutcome, ToolSchema
from tts.rollout.agent import Agent
from tts.rollout.group import run_group
from tts.toolkit.spec import Observation
from tts.toolkit.toolbox import success_outcome

SEARCH = "poi_keyword_search"


class SearchingRollouts:
    """The `Rollouts` port for one photo. `found` is the text that every search returns."""

    def __init__(self, model: ModelClient, found: str) -> None:
        self._agent = Agent(model, DIALECTS["generic"], _Search(found))

    def group_size(self, group: GroupRequest) -> int:
        """All rollouts go in one group."""
        return len(group.tasks)

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Batches of items as they come."""
        async with closing(run_group(self._agent, group, coalesce_s=0.0)) as batches:
            async for batch in batches:
                yield batch


class _Search:
    def __init__(self, found: str) -> None:
        self._result_text = found

    def schemas(self) -> tuple[ToolSchema, ...]:
        return (ToolSchema(name=SEARCH, description="Find places.", parameters={"type": "object"}),)

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        return success_outcome(call, Observation(self._result_text), elapsed_s=0.0, retrieved_at="")
