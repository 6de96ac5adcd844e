"""Toolboxes: the tools of this process, and several toolboxes combined. A failure that the model can react to is a
result."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from tts.domain.tooling import ToolCall, ToolFailure, ToolResult
from tts.errors import ToolError
from tts.ports.toolbox import Attachment, Toolbox, ToolContext, ToolOutcome, ToolSchema
from tts.toolkit.execute import check_consent, no_such_tool, parse_arguments, run_tool, tool_named
from tts.toolkit.spec import Observation, Tool, schema_of


class LocalToolbox:
    """The `Toolbox` port over tools in this process.

    Args:
        tools: what may be called; of several with one name, the last one is used.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._schemas = tuple(map(schema_of, self._tools.values()))

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools in the order in which they were given."""
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Check consent and arguments, then run the tool in this process.

        Returns:
            A failure for an unknown tool, wrong arguments, a missing consent, a time-out, or an error of the tool.

        Raises:
            ToolCrashed: the tool raised something other than a ToolError.
        """
        started = time.perf_counter()
        try:
            tool = tool_named(self._tools, call.name)
            check_consent(tool, context)
            observation = await run_tool(tool, parse_arguments(tool, call), context)
        except ToolError as error:
            return failure_outcome(call, error, elapsed_s=time.perf_counter() - started)
        return success_outcome(call, observation, elapsed_s=time.perf_counter() - started, retrieved_at=now_rfc3339())


class JoinedToolbox:
    """Several toolboxes as one; the first that has a tool runs it."""

    def __init__(self, *boxes: Toolbox) -> None:
        self._owners: dict[str, Toolbox] = {}
        schemas: dict[str, ToolSchema] = {}
        for box in boxes:
            for schema in box.schemas():
                self._owners.setdefault(schema.name, box)
                schemas.setdefault(schema.name, schema)
        self._schemas = tuple(schemas.values())

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools of all boxes; of several with one name, the one in the first box."""
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Pass the call to the box that owns the tool; an unknown name is a failure with the names there are."""
        owner = self._owners.get(call.name)
        if owner is None:  # none of the boxes knows all the names there are
            return failure_outcome(call, no_such_tool(call.name, self._owners))
        return await owner.call(call, context)


def success_outcome(
    call: ToolCall, observation: Observation, *, elapsed_s: float, retrieved_at: str, cached: bool = False
) -> ToolOutcome:
    """Make the outcome of a call that returned an observation.

    Args:
        call: the call; its id and its name are in the result.
        observation: what the tool returned.
        elapsed_s: how long the call took, in seconds.
        retrieved_at: when the provider gave the result, in UTC (RFC 3339); for a cached result, earlier than the call.
        cached: whether no provider was asked for it.

    Returns:
        The outcome with the pictures of the observation.
    """
    return _outcome(
        call,
        observation.text,
        observation.attachments,
        facts=observation.facts,
        images=observation.images,
        cached=cached,
        elapsed_s=elapsed_s,
        retrieved_at=retrieved_at,
    )


def failure_outcome(call: ToolCall, error: ToolError, *, elapsed_s: float = 0.0, cached: bool = False) -> ToolOutcome:
    """Make the outcome of a call that failed: the model reads why.

    Args:
        call: the call; its id and its name are in the result.
        error: its kind and detail become the text for the model. With the field `verbatim`, the text is the detail
            alone: released tools say in their own words what went wrong.
        elapsed_s: how long the call took, in seconds.
        cached: whether no provider was asked for it.

    Returns:
        The outcome with a `failure`, and without facts and pictures.
    """
    failure = ToolFailure(kind=error.kind, detail=error.detail, retry_after_s=error.fields.get("retry_after_s"))
    text = error.detail if error.fields.get("verbatim") else f"Error ({error.kind.value}): {error.detail}"
    return _outcome(call, text, failure=failure, cached=cached, elapsed_s=elapsed_s)


def _outcome(
    call: ToolCall, text: str, attachments: tuple[Attachment, ...] = (), *, elapsed_s: float, **fields: Any
) -> ToolOutcome:
    result = ToolResult(call_id=call.id, name=call.name, text=text, elapsed_s=round(elapsed_s, 4), **fields)
    return ToolOutcome(result, attachments)


def now_rfc3339() -> str:
    """Read the clock of this machine.

    Returns:
        The time in UTC to the second, such as `2026-01-31T12:00:00Z`.
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
