"""Runs the tool calls of a rollout concurrently, under the model's names for the tools, and refuses tools that were not
offered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tts.dialects.released.tool_name import ability_of
from tts.domain.messages import Message
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.errors import ToolError, ToolErrorKind
from tts.gen_ai import record_result, tool_span
from tts.ports.rollout_groups import GroupRequest
from tts.ports.toolbox import Toolbox, ToolContext, ToolOutcome
from tts.rollout.agent import Brief
from tts.rollout.kept_results import KnownResults
from tts.rollout.tool_call_count import calls_made
from tts.toolkit.execute import no_consent
from tts.toolkit.toolbox import failure_outcome


class ToolRunner:
    """A call that is refused or fails is an outcome with an error; only a crash of the toolbox raises.

    `context` is asked when a call starts, so that it knows the time that is left and the span it belongs to.
    """

    def __init__(self, toolbox: Toolbox, group: GroupRequest, brief: Brief, rollout_id: int) -> None:
        self._toolbox = toolbox
        self._group = group
        self._rollout_id = rollout_id
        self._dialect = brief.dialect
        self._offered_names = [schema.name for schema in brief.schemas]
        self._withheld_names = brief.withheld
        self._known_results = KnownResults(group.kept)

    async def run_all(
        self,
        calls: Sequence[ToolCall],
        allowed: int,
        messages: Sequence[Message],
        context: Callable[[], RequestContext],
    ) -> list[ToolOutcome]:
        """Outcomes in the order of `calls`: the first `allowed` are run side by side, the rest are refused.

        `messages` are the conversation so far, in which calls of a tool with a limit of its own are counted.
        """
        outcomes: list[ToolOutcome] = []
        try:
            async with asyncio.TaskGroup() as running:
                tasks = [running.create_task(self._run_model_call(call, messages, context)) for call in calls[:allowed]]
            outcomes = [task.result() for task in tasks]
        except BaseExceptionGroup as crashes:
            raise crashes.exceptions[0] from None
        refusal = ToolError(f"not run: {allowed} calls were possible in this turn", kind=ToolErrorKind.BUDGET)
        return outcomes + [failure_outcome(call, refusal) for call in calls[allowed:]]

    async def look_up(self, call: ToolCall, context: Callable[[], RequestContext]) -> ToolOutcome:
        """As `run`, unless the request that this one continues has the result already."""
        return self._known_results.outcome_of(call) or await self.run(call, context)

    async def run(self, call: ToolCall, context: Callable[[], RequestContext]) -> ToolOutcome:
        """One call under the project's own names, refused where the request does not allow the tool."""
        with tool_span(call, self._rollout_id) as current:
            group = self._group
            if (allowed := group.options.tools) is not None and ability_of(call.name) not in allowed:
                refusal = ToolError(f"{call.name} is not allowed in this request", kind=ToolErrorKind.NOT_ALLOWED)
                return failure_outcome(call, refusal)
            outcome = await self._toolbox.call(call, ToolContext(context(), group.photos, group.options))
            record_result(current, outcome.result)
            return outcome

    async def _run_model_call(
        self, call: ToolCall, messages: Sequence[Message], context: Callable[[], RequestContext]
    ) -> ToolOutcome:
        """One call of the model, under its names; refused when it is none of the tools it was offered."""
        if (refusal := self._refusal(call, messages)) is not None:
            return failure_outcome(call, refusal)
        if (known := self._known_results.outcome_of(call)) is not None:
            return known
        outcome = await self.run(self._dialect.to_tool(call, self._group.photos), context)
        if outcome.result.name == call.name:
            return outcome
        renamed = outcome.result.model_copy(update={"name": call.name})
        return ToolOutcome(renamed, outcome.attachments)

    def _refusal(self, call: ToolCall, messages: Sequence[Message]) -> ToolError | None:
        if call.name in self._withheld_names:
            return no_consent(call.name)
        if call.name not in self._offered_names:
            names = ", ".join(self._offered_names)
            return ToolError(f"there is no tool {call.name!r}; there are: {names}", kind=ToolErrorKind.UNKNOWN_TOOL)
        limit = self._dialect.calls_per_tool.get(call.name)
        failed_too = self._dialect.counts_failed_calls
        if limit is not None and calls_made(messages, call.name, failed_too=failed_too) >= limit:
            return ToolError(f"{call.name} may be called {limit} times only", kind=ToolErrorKind.BUDGET)
        return None
