"""Finds tools that served no call of a request, and rollouts that could not work because none of theirs did.

A call is served when the tool answers it, also when it answers that it found nothing. Calls that the model got wrong,
calls beyond its budget, and results that an earlier request had say nothing about the tool. Tools of published systems
that report a failure as an ordinary text are not noticed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tts.domain.failure import RolloutFailure
from tts.domain.tooling import ToolErrorKind, ToolFailure, ToolResult
from tts.domain.trajectory import Run, Trajectory
from tts.errors import RolloutsFailed

_WARNING_CODE = "tools-failed"
_REMEDY = "find out with `geotts doctor` what is wrong with the providers of these tools"


def tools_failure(trajectory: Trajectory) -> RolloutFailure | None:
    """Why a rollout without a hypothesis could not work, if none of its calls was served and one failed for its tool;
    else None."""
    outages = _outages(trajectory.results)
    if not outages or any(_is_served(result) for result in trajectory.results):
        return None
    tools = ", ".join(f"{name} ({_kinds_text(failures)})" for name, failures in sorted(outages.items()))
    waits = [failure.retry_after_s for failures in outages.values() for failure in failures]
    return RolloutFailure(
        code=_WARNING_CODE,
        detail=f"no tool call was served: {tools}",
        retry_after_s=max((wait for wait in waits if wait is not None), default=None),
        mend=_REMEDY,
    )


def is_for_tools(error: RolloutsFailed) -> bool:
    """Whether only tools failed: then more rollouts may have other calls, or more luck."""
    return all(cause.code == _WARNING_CODE for cause in error.fields["causes"])


def tool_warnings(run: Run) -> tuple[str, ...]:
    """A sentence for each tool that failed the calls of the rollouts, and served none of theirs or the verifier's."""
    results = [result for trajectory in run.trajectories for result in trajectory.results]
    asked = [result for turn in run.inquiry for result in turn.results]
    serving = {result.name for result in (*results, *asked) if _is_served(result)}
    return tuple(
        f"every call of {name} failed ({len(failures)} call{'s' if len(failures) > 1 else ''}): {_kinds_text(failures)}"
        for name, failures in sorted(_outages(results).items())
        if name not in serving
    )


def _outages(results: Iterable[ToolResult]) -> dict[str, list[ToolFailure]]:
    """The failures of each tool that could not serve, by its name."""
    found: dict[str, list[ToolFailure]] = defaultdict(list)
    for result in results:
        if result.failure is not None and result.failure.kind.is_outage and not result.kept:
            found[result.name].append(result.failure)
    return found


def _kinds_text(failures: Iterable[ToolFailure]) -> str:
    return " and ".join(sorted({failure.kind.value.replace("_", " ") for failure in failures}))


def _is_served(result: ToolResult) -> bool:
    if result.kept:
        return False
    return result.failure is None or result.failure.kind is ToolErrorKind.NOT_FOUND
