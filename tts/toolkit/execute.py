"""One call of one tool: find it, check its arguments, run it within its time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from tts.domain.tooling import ToolCall
from tts.errors import ToolCrashed, ToolError, ToolErrorKind, boundary
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, Observation, Tool


def tool_named(tools: Mapping[str, Tool], name: str) -> Tool:
    """Find a tool by its name.

    Args:
        tools: the tools of a toolbox by name.
        name: as the model wrote it.

    Returns:
        The tool that has exactly this name.

    Raises:
        ToolError: UNKNOWN_TOOL, with the names there are.
    """
    tool = tools.get(name)
    if tool is None:
        raise no_such_tool(name, tools)
    return tool


def no_such_tool(name: str, known: Iterable[str]) -> ToolError:
    """Make the error for an unknown tool.

    Args:
        name: as the model wrote it.
        known: the names that the model is told, in any order.

    Returns:
        UNKNOWN_TOOL, with the names there are; the caller raises or returns it.
    """
    return ToolError(
        f"there is no tool {name!r}; there are: {', '.join(sorted(known))}", kind=ToolErrorKind.UNKNOWN_TOOL
    )


def check_consent(tool: Tool, context: ToolContext) -> None:
    """Refuse a tool that sends parts of the photo, in a request that does not consent.

    Args:
        tool: only its specification is read.
        context: `options.allow_region_search` is the consent of the request.

    Raises:
        ToolError: NOT_ALLOWED.
    """
    if tool.spec.sends_photo and not context.options.allow_region_search:
        raise no_consent(tool.spec.name)


def no_consent(name: str) -> ToolError:
    """Make the error for a tool that sends parts of the photo, in a request that does not consent.

    Args:
        name: the name of the tool that the model is told.

    Returns:
        NOT_ALLOWED; the caller raises or returns it.
    """
    return ToolError(
        f"{name} sends parts of the photo to a web service, and this request does not consent (allow_region_search)",
        kind=ToolErrorKind.NOT_ALLOWED,
    )


def parse_arguments(tool: Tool, call: ToolCall) -> Arguments:
    """Check the arguments of a call.

    Args:
        tool: the tool that is called.
        call: its arguments are as the model wrote them.

    Returns:
        An instance of `tool.arguments`.

    Raises:
        ToolError: INVALID_ARGUMENTS; the detail says what to change, for four mistakes at most.
    """
    try:
        return tool.arguments.model_validate(call.arguments)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg']}" for e in error.errors()[:4]
        )
        raise ToolError(f"{call.name}: {problems}", kind=ToolErrorKind.INVALID_ARGUMENTS) from error


async def run_tool(tool: Tool, arguments: Any, context: ToolContext) -> Observation:
    """Run within the tool's own time and what is left of the request.

    Args:
        tool: the tool that is called.
        arguments: an instance of `tool.arguments`.
        context: passed to the tool; `request.remaining_s` is what is left, in seconds.

    Returns:
        What the tool returned, unchanged.

    Raises:
        ToolError: TIMEOUT, or what the tool raised.
        ToolCrashed: for anything that is not a `ToolError`.
    """
    limit = min(tool.spec.timeout_s, context.request.remaining_s)
    with boundary(ToolCrashed, f"tool {tool.spec.name}"):
        try:
            async with asyncio.timeout(limit):
                return await tool.run(arguments, context)
        except TimeoutError:
            raise timed_out(tool, limit) from None


def timed_out(tool: Tool, limit_s: float) -> ToolError:
    """Make the error for a tool that took too long.

    Args:
        tool: its name is in the message.
        limit_s: how long it was allowed to take, in seconds; the message rounds it.

    Returns:
        TIMEOUT, with the limit in seconds; the caller raises it.
    """
    return ToolError(f"{tool.spec.name} took longer than {limit_s:.0f} s", kind=ToolErrorKind.TIMEOUT)
