"""The JSON replies of the HTTP interface, and problem details (RFC 9457)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from geotts_client.answer import Answer, StopReason
from geotts_client.events import LeftMachine
from geotts_client.failure import FailureCause
from geotts_client.trajectory import Trajectory, Turn
from geotts_client.value import Value

PROBLEM_BASE = "urn:geotts:problem:"
_INQUIRY_TEXT = "with `include=full`: the verifier's own tool calls, one turn for each round; absent if there are none"
_LEFT_MACHINE_TEXT = "with `include=full`: what left the machine, to whom and when; null if nothing left"


class LocateResponse(Value):
    """The reply to `POST /locate` when JSON is asked for."""

    request_id: str = Field(description="id of the request")
    answer: Answer = Field(description="the answer, which may be an abstention")
    trajectories: tuple[Trajectory, ...] = Field(
        default=(), description="the rollouts: none, without their turns, or whole, as the option `include` says"
    )
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT_MACHINE_TEXT)
    inquiry: tuple[Turn, ...] = Field(default=(), description=_INQUIRY_TEXT, exclude_if=lambda turns: not turns)


class Problem(Value):
    """Problem details (RFC 9457). Programs can rely on `type`; `detail` is for people."""

    type: str = Field(description="`urn:geotts:problem:` and the code of the problem")
    title: str = Field(description="the name of the HTTP status")
    status: int = Field(description="HTTP status of the reply")
    detail: str = Field(description="what went wrong and what to do, in one sentence")
    instance: str | None = Field(
        default=None, description="path of the request that has the problem; null if it is not stated"
    )
    errors: tuple[dict[str, str], ...] = Field(default=(), description="which fields are wrong, and how")
    causes: tuple[FailureCause, ...] = Field(default=(), description="why no rollout could work, and what to do")


class Accepted202(Value):
    """The reply to `Prefer: respond-async`: the addresses of the state and of the events."""

    request_id: str = Field(description="id of the request")
    status: Literal["running"] = "running"
    location: str = Field(description="path of the state of the request")
    events: str = Field(description="path of its events")


class RunStatus(Value):
    """The state of a request."""

    request_id: str = Field(description="id of the request")
    status: Literal["running", "done", "failed", "cancelled"] = Field(
        description="`done`: it has an answer, which may be an abstention. `failed`: it ended with a problem"
    )
    last_seq: int = Field(default=0, description="number of the last event so far; 0 if there is none")
    rollouts_finished: int = Field(default=0, description="number of rollouts that have ended")
    stop_reason: StopReason | None = Field(default=None, description="why the request ended; null while it runs")
    answer: Answer | None = Field(default=None, description="the answer; null if there is none, or none yet")
    problem: Problem | None = Field(default=None, description="why there is no answer; null unless the request failed")
    trajectories: tuple[Trajectory, ...] = Field(
        default=(), description="the rollouts so far: none, without their turns, or whole, as the option `include` says"
    )
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT_MACHINE_TEXT)
    inquiry: tuple[Turn, ...] = Field(default=(), description=_INQUIRY_TEXT, exclude_if=lambda turns: not turns)


class Cancelled(Value):
    """The reply to `DELETE`."""

    request_id: str = Field(description="id of the request")
    was_running: bool = Field(description="true: the request was running, and was stopped")
    erased: bool = Field(default=False, description="true: all data of the request were erased")
