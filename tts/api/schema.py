"""What travels over HTTP besides events: the JSON reply and problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Literal

from pydantic import Field

from tts.domain.answer import Answer, StopReason
from tts.domain.events import LeftMachine
from tts.domain.trajectory import Run, Trajectory
from tts.domain.value import Value

PROBLEM_BASE = "urn:geotts:problem:"
_LEFT = "with include=full: what left the machine, to whom, when; null when nothing did"


class LocateResponse(Value):
    """The reply to `POST /locate` when JSON is asked for."""

    request_id: str
    answer: Answer
    trajectories: tuple[Trajectory, ...] = ()
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT)


class Problem(Value):
    """RFC 9457 problem details. `type` is stable; `detail` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    errors: tuple[dict[str, str], ...] = Field(default=(), description="which fields are wrong, and how")


class Accepted202(Value):
    """The reply to `Prefer: respond-async`: where to ask, and where to listen."""

    request_id: str
    status: Literal["running"] = "running"
    location: str
    events: str


class RunStatus(Value):
    """How far a request is. `answer` is there when it is done, `problem` when it failed."""

    request_id: str
    status: Literal["running", "done", "failed", "cancelled"]
    last_seq: int = 0
    rollouts_finished: int = 0
    stop_reason: StopReason | None = None
    answer: Answer | None = None
    problem: Problem | None = None
    trajectories: tuple[Trajectory, ...] = ()
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT)


class Cancelled(Value):
    """The reply to `DELETE`."""

    request_id: str
    was_running: bool
    erased: bool = False


def response_of(
    request_id: str, answer: Answer, run: Run, include: Literal["none", "summary", "full"]
) -> LocateResponse:
    """The reply that tells `answer`, and of its run as much as was asked for."""
    return LocateResponse(
        request_id=request_id,
        answer=answer,
        trajectories=trajectories_for(run, include),
        left_machine=run.left_machine if include == "full" else None,
    )


def trajectories_for(run: Run, include: Literal["none", "summary", "full"]) -> tuple[Trajectory, ...]:
    """none: nothing. summary: answers and usage without what was said and seen. full: everything."""
    if include == "none":
        return ()
    if include == "full":
        return run.trajectories
    return tuple(trajectory.model_copy(update={"turns": ()}) for trajectory in run.trajectories)


def status_of(request_id: str, run: Run, include: Literal["none", "summary", "full"]) -> RunStatus:
    """What the fold of a request says about it."""
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    if run.answer is not None:
        state = "done"
    elif run.failure is not None:
        state = "failed"
    elif run.stop_reason is not None:
        state = "cancelled"
    failure = run.failure
    return RunStatus(
        request_id=request_id,
        status=state,
        last_seq=run.last_seq,
        rollouts_finished=sum(trajectory.stop_reason is not None for trajectory in run.trajectories),
        stop_reason=run.stop_reason,
        answer=run.answer,
        problem=failure and problem_of(failure.code, failure.status, failure.detail),
        trajectories=trajectories_for(run, include),
        left_machine=run.left_machine if include == "full" else None,
    )


def problem_of(code: str, status: int, detail: str, **members: Any) -> Problem:
    """Problem details with the title that belongs to the status."""
    return Problem(type=PROBLEM_BASE + code, title=HTTPStatus(status).phrase, status=status, detail=detail, **members)
