"""Runs tool calls: checks arguments, bounds time, and turns every failure the model can react to into a result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from pydantic import ValidationError

from tts.domain.tooling import ToolCall, ToolFailure, ToolResult
from tts.errors import ToolCrashed, ToolError, ToolErrorKind, boundary
from tts.ports import Toolbox, ToolContext, ToolOutcome, ToolSchema
from tts.toolkit.spec import Arguments, Observation, Tool, schema_of


class LocalToolbox:
    """The `Toolbox` port over tools in this process."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(schema_of(tool) for tool in self._tools.values())

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        started = time.perf_counter()
        try:
            observation = await self._run(call, context)
        except ToolError as error:
            return failed(call, error, elapsed_s=time.perf_counter() - started)
        result = ToolResult(
            call_id=call.id,
            name=call.name,
            text=observation.text,
            facts=observation.facts,
            images=observation.images,
            elapsed_s=round(time.perf_counter() - started, 4),
            retrieved_at=now_rfc3339(),
        )
        return ToolOutcome(result, observation.attachments)

    async def _run(self, call: ToolCall, context: ToolContext) -> Observation:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            raise ToolError(f"there is no tool {call.name!r}; there are: {known}", kind=ToolErrorKind.UNKNOWN_TOOL)
        arguments = _parse(tool, call)
        limit = min(tool.spec.timeout_s, context.request.remaining_s)
        with boundary(ToolCrashed, f"tool {call.name}"):
            try:
                async with asyncio.timeout(limit):
                    return await tool.run(arguments, context)
            except TimeoutError:
                raise ToolError(f"{call.name} took longer than {limit:.0f} s", kind=ToolErrorKind.TIMEOUT) from None


class JoinedToolbox:
    """Several toolboxes as one; the first that has a tool runs it."""

    def __init__(self, *boxes: Toolbox) -> None:
        self._boxes = boxes
        self._owner = {schema.name: box for box in reversed(boxes) for schema in box.schemas()}

    def schemas(self) -> tuple[ToolSchema, ...]:
        seen = {schema.name: schema for box in reversed(self._boxes) for schema in box.schemas()}
        return tuple(seen[name] for name in dict.fromkeys(s.name for box in self._boxes for s in box.schemas()))

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        return await self._owner.get(call.name, self._boxes[0]).call(call, context)


def failed(call: ToolCall, error: ToolError, *, elapsed_s: float = 0.0) -> ToolOutcome:
    """The result of a call that failed: the model reads why."""
    failure = ToolFailure(kind=error.kind, detail=error.detail, retry_after_s=error.fields.get("retry_after_s"))
    text = f"Error ({error.kind.value}): {error.detail}"
    return ToolOutcome(
        ToolResult(call_id=call.id, name=call.name, text=text, failure=failure, elapsed_s=round(elapsed_s, 4))
    )


def _parse(tool: Tool, call: ToolCall) -> Arguments:
    try:
        return tool.arguments.model_validate(call.arguments)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg']}" for e in error.errors()[:4]
        )
        raise ToolError(f"{call.name}: {problems}", kind=ToolErrorKind.INVALID_ARGUMENTS) from error


def now_rfc3339() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
