"""What travels over HTTP besides events: the JSON reply and problem details (RFC 9457)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tts.domain.answer import Answer
from tts.domain.trajectory import Run, Trajectory
from tts.domain.value import Value

PROBLEM_BASE = "urn:geotts:problem:"


class LocateResponse(Value):
    """The reply to `POST /locate` when JSON is asked for."""

    request_id: str
    answer: Answer
    trajectories: tuple[Trajectory, ...] = ()


class Problem(Value):
    """RFC 9457 problem details. `type` is stable; `detail` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    errors: tuple[dict[str, str], ...] = Field(default=(), description="which fields are wrong, and how")


def trajectories_for(run: Run, include: Literal["none", "summary", "full"]) -> tuple[Trajectory, ...]:
    """none: nothing. summary: answers and usage without what was said and seen. full: everything."""
    if include == "none":
        return ()
    if include == "full":
        return run.trajectories
    return tuple(trajectory.model_copy(update={"turns": ()}) for trajectory in run.trajectories)
