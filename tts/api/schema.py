"""What travels over HTTP besides events: the JSON reply and problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Literal

from geotts_client.replies import PROBLEM_BASE as PROBLEM_BASE
from geotts_client.replies import Accepted202 as Accepted202
from geotts_client.replies import Cancelled as Cancelled
from geotts_client.replies import LocateResponse as LocateResponse
from geotts_client.replies import Problem as Problem
from geotts_client.replies import RunStatus as RunStatus
from tts.domain.answer import Answer
from tts.domain.events import Failed
from tts.domain.trajectory import Run, Trajectory


def response_of(
    request_id: str, answer: Answer, run: Run, include: Literal["none", "summary", "full"]
) -> LocateResponse:
    """The reply that tells `answer`, and of its run as much as was asked for."""
    return LocateResponse(
        request_id=request_id,
        answer=answer,
        trajectories=trajectories_for(run, include),
        left_machine=run.left_machine if include == "full" else None,
        inquiry=run.inquiry if include == "full" else (),
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
        problem=failure and problem_of_failure(failure),
        trajectories=trajectories_for(run, include),
        left_machine=run.left_machine if include == "full" else None,
        inquiry=run.inquiry if include == "full" else (),
    )


def problem_of_failure(failure: Failed, *, instance: str | None = None) -> Problem:
    """The problem that ended a request."""
    return problem_of(failure.code, failure.status, failure.detail, causes=failure.causes, instance=instance)


def problem_of(code: str, status: int, detail: str, **members: Any) -> Problem:
    """Problem details with the title that belongs to the status."""
    return Problem(type=PROBLEM_BASE + code, title=HTTPStatus(status).phrase, status=status, detail=detail, **members)
