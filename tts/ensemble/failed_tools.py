"""Finds tools that served no call of a request, and rollouts that could not work because none of theirs did.

A call is served when the tool answers it, also when it answers that it found nothing. Calls that the model got wrong,
and calls beyond its budget, say nothing about the tool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tts.domain.failure import RolloutFailure
from tts.domain.tooling import ToolErrorKind, ToolResult
from tts.domain.trajectory import Run, Trajectory

_MEND = "find out with `geotts doctor` what is wrong with the providers of these tools"


def tools_failure(trajectory: Trajectory) -> RolloutFailure | None:
    """Why a rollout without a hypothesis could not work, if none of its calls was served and one failed for its tool;
    else None."""
    outages = _outages(trajectory.results)
    if not outages or any(_is_served(result) for result in trajectory.results):
        return None
    tools = ", ".join(f"{name} ({kinds})" for name, kinds in outages.items())
    return RolloutFailure(code="tools-failed", detail=f"no tool call was served: {tools}", mend=_MEND)


def tool_warnings(run: Run) -> tuple[str, ...]:
    """A sentence for each tool that failed every call of the request that it should have served."""
    by_tool: dict[str, list[ToolResult]] = defaultdict(list)
    for trajectory in run.trajectories:
        for result in trajectory.results:
            by_tool[result.name].append(result)
    return tuple(
        f"every call of {name} failed ({_count(results)}): {_outages(results)[name]}"
        for name, results in sorted(by_tool.items())
        if _outages(results) and not any(_is_served(result) for result in results)
    )


def _outages(results: Iterable[ToolResult]) -> dict[str, str]:
    """How each tool failed, by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for result in results:
        if _is_outage(result):
            assert result.failure is not None
            found[result.name].add(result.failure.kind.value.replace("_", " "))
    return {name: " and ".join(sorted(found[name])) for name in sorted(found)}


def _count(results: Iterable[ToolResult]) -> str:
    calls = sum(_is_outage(result) for result in results)
    return f"{calls} call{'s' if calls > 1 else ''}"


def _is_outage(result: ToolResult) -> bool:
    return result.failure is not None and result.failure.kind.is_outage


def _is_served(result: ToolResult) -> bool:
    return result.failure is None or result.failure.kind is ToolErrorKind.NOT_FOUND
