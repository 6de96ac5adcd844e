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

    request_id: str
    answer: Answer
    trajectories: tuple[Trajectory, ...] = ()
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT_MACHINE_TEXT)
    inquiry: tuple[Turn, ...] = Field(default=(), description=_INQUIRY_TEXT, exclude_if=lambda turns: not turns)


class Problem(Value):
    """RFC 9457 problem details. `type` is stable; `detail` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    errors: tuple[dict[str, str], ...] = Field(default=(), description="which fields are wrong, and how")
    causes: tuple[FailureCause, ...] = Field(default=(), description="why no rollout could work, and what to do")


class Accepted202(Value):
    """The reply to `Prefer: respond-async`: the addresses of the state and of the events."""

    request_id: str
    status: Literal["running"] = "running"
    location: str
    events: str


class RunStatus(Value):
    """The state of a request. `answer` is present when it is done, `problem` if it failed."""

    request_id: str
    status: Literal["running", "done", "failed", "cancelled"]
    last_seq: int = 0
    rollouts_finished: int = 0
    stop_reason: StopReason | None = None
    answer: Answer | None = None
    problem: Problem | None = None
    trajectories: tuple[Trajectory, ...] = ()
    left_machine: LeftMachine | None = Field(default=None, description=_LEFT_MACHINE_TEXT)
    inquiry: tuple[Turn, ...] = Field(default=(), description=_INQUIRY_TEXT, exclude_if=lambda turns: not turns)


class Cancelled(Value):
    """The reply to `DELETE`."""

    request_id: str
    was_running: bool
    erased: bool = False
