"""The events of a request. SSE, NDJSON, JSON replies, traces, records, evaluation and replay are made from them.

Events are a closed, frozen, discriminated union. `seq` and `t_s` are 0 until `Sequencer` numbers them; from then on
`seq` is strictly increasing within a request. Text deltas are merged before they are numbered, so a resumed stream
equals the uncut one. Names and shapes are frozen by `tests/golden/events.json`; `SCHEMA_VERSION` counts its changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from geotts_client.answer import Answer, StopReason
from geotts_client.cues import Cues
from geotts_client.failure import FailureCause, RolloutFailure
from geotts_client.hypothesis import Hypothesis
from geotts_client.latlon import LatLon
from geotts_client.outgoing_request import Outgoing
from geotts_client.plan import Depth, Locatability, Plan
from geotts_client.source import Source
from geotts_client.tooling import ToolCall, ToolResult
from geotts_client.usage import Usage
from geotts_client.value import Value

SCHEMA_VERSION = 1

RolloutId = Annotated[int, Field(ge=0)]
Asker = Annotated[
    Literal["rollout", "verifier"],
    Field(
        description="who called the tool; absent if a rollout called it. If the verifier called it, `turn` is "
        "the round of its questions, and no rollout has this `rollout_id`",
        exclude_if=lambda asker: asker == "rollout",
    ),
]


class _Event(Value):
    seq: Annotated[int, Field(ge=0)] = 0
    t_s: Annotated[float, Field(ge=0)] = 0.0


class _RolloutEvent(_Event):
    rollout_id: RolloutId


class PhotoInfo(Value):
    """One photo of the request. The service works on a clean copy, which has no metadata."""

    sha256: str
    source_sha256: str
    width: int
    height: int


class Accepted(_Event):
    """The service accepted the request. This is its first event."""

    type: Literal["accepted"] = "accepted"
    request_id: str
    schema_version: int = SCHEMA_VERSION
    photos: tuple[PhotoInfo, ...]
    n_parallel: int
    depth: Depth
    engine: str = ""
    dialect: str = ""
    seed: int = 0
    continues: str = Field(default="", description="the request that this one continues")


class Routed(_Event):
    """The service rated the photos and made a plan."""

    type: Literal["routed"] = "routed"
    locatability: Locatability
    plan: Plan


class RolloutStarted(_RolloutEvent):
    """A rollout begins."""

    type: Literal["rollout_started"] = "rollout_started"
    seed: int = 0
    source: Source = ""
    direction: str = Field(
        default="",
        description="the direction that the rollout got (its first subject); absent if it got none",
        exclude_if=lambda direction: not direction,
    )


class Text(_RolloutEvent):
    """A part of the text of the model. Consecutive parts of one turn may have been merged."""

    type: Literal["text"] = "text"
    turn: int
    text: str


class ToolCalled(_RolloutEvent):
    """A rollout, or the verifier, calls a tool."""

    type: Literal["tool_called"] = "tool_called"
    turn: int
    call: ToolCall
    asker: Asker = "rollout"


class ToolResulted(_RolloutEvent):
    """A tool call ended, with a result or with a failure."""

    type: Literal["tool_result"] = "tool_result"
    turn: int
    result: ToolResult
    asker: Asker = "rollout"


class Hypothesised(_RolloutEvent):
    """A rollout states the place that it considers right after this turn."""

    type: Literal["hypothesis"] = "hypothesis"
    turn: int
    hypothesis: Hypothesis


class TurnFinished(_RolloutEvent):
    """A checkpoint: the rollout can be continued from here. `usage` is the rollout's total so far."""

    type: Literal["turn_finished"] = "turn_finished"
    turn: int
    usage: Usage
    cues: Cues | None = Field(default=None, description="what the first turn says about the photo")
    problem: str = Field(default="", description="why the turn could not be used; empty if it was used")
    cut: bool = Field(default=False, description="true: the text ended at the token limit or at the end of the context")


class RolloutResumed(_RolloutEvent):
    """The rollout continues after its turn `from_turn` (-1: from the start). Text of later turns that was already sent
    is no longer valid.
    """

    type: Literal["rollout_resumed"] = "rollout_resumed"
    from_turn: int
    moved: str = Field(
        default="",
        description="why another model continues the rollout; it names the model that did not answer; absent otherwise",
        exclude_if=lambda moved: not moved,
    )


class RolloutFinished(_RolloutEvent):
    """The end of one rollout. `answer` is its final answer, else its best hypothesis; null if it had none.
    `failure` says why it failed.
    """

    type: Literal["rollout_finished"] = "rollout_finished"
    stop_reason: StopReason
    answer: Hypothesis | None = None
    usage: Usage = Usage()
    error: str = ""
    failure: RolloutFailure | None = None
    answer_draws: tuple[LatLon | None, ...] = Field(
        default=(), description="points of the answer draws; null for a draw without a point"
    )


class ClusterInfo(Value):
    """Rollouts whose hypotheses lie near one of them."""

    centre: LatLon
    rollouts: tuple[int, ...]
    witnesses: float
    support: float


class Consensus(_Event):
    """How many of the hypotheses so far agree within the target radius."""

    type: Literal["consensus"] = "consensus"
    radius_km: float
    clusters: tuple[ClusterInfo, ...]
    finished: int
    outstanding: int
    decided: bool = False


class Escalated(_Event):
    """More rollouts start, with a plan of their own. In a check, these may be the testing rollouts."""

    type: Literal["escalated"] = "escalated"
    reason: str
    added: int
    plan: Plan


class VerifierText(_Event):
    """The verifier gives its reasons, piece by piece. After `escalated`, it starts again."""

    type: Literal["verifier_text"] = "verifier_text"
    text: str


class Answered(_Event):
    """The service gives the answer, which may be an abstention."""

    type: Literal["answer"] = "answer"
    answer: Answer


class Failed(_Event):
    """The problem (RFC 9457) that ended the request. If no rollout could work, `causes` says why."""

    type: Literal["error"] = "error"
    code: str
    status: int
    detail: str
    causes: tuple[FailureCause, ...] = ()
    retry_after_s: float | None = None


class LeftMachine(_Event):
    """Everything that left this machine for the request. The event comes before `done`, and only if something left.

    `engines` are the hosts of remote engines, which get photos and conversations. `sent` lists each HTTP request that
    left this machine: requests of tools, requests to remote engines, and requests for photos that were given as URLs.
    `complete` is false if a part of this is not known.
    """

    type: Literal["left_machine"] = "left_machine"
    engines: tuple[str, ...] = ()
    sent: tuple[Outgoing, ...] = ()
    complete: bool = True


class Done(_Event):
    """The request has ended. This is its last event."""

    type: Literal["done"] = "done"
    stop_reason: StopReason


Event = Annotated[
    Accepted
    | Routed
    | RolloutStarted
    | Text
    | ToolCalled
    | ToolResulted
    | Hypothesised
    | TurnFinished
    | RolloutResumed
    | RolloutFinished
    | Consensus
    | Escalated
    | VerifierText
    | Answered
    | Failed
    | LeftMachine
    | Done,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(data: bytes | str) -> Event:
    """Parse one event, strictly: an unknown kind or field is an error.

    Args:
        data: one event as JSON, in UTF-8 if it is bytes.

    Returns:
        The event of the class that belongs to its `type`.

    Raises:
        pydantic.ValidationError: the JSON is not an event of this schema version.
    """
    return EVENT.validate_json(data)


class Sequencer:
    """Numbers the events of one request: `seq` from 1 without gaps, `t_s` in seconds since it was made.

    Args:
        clock: gives seconds that never go back.
        last_seq: the number of the last event of another process that numbered the first events of the request; 0 for
            none.
        elapsed_s: seconds that the request had taken in that process.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, last_seq: int = 0, elapsed_s: float = 0.0
    ) -> None:
        self._clock = clock
        self._start = clock() - elapsed_s
        self._last = last_seq

    def __call__(self, event: Event) -> Event:
        """A copy of the event with the next `seq` and the time; every call counts."""
        self._last += 1
        return event.model_copy(update={"seq": self._last, "t_s": self.elapsed_s()})

    def elapsed_s(self) -> float:
        """Read the clock of the request.

        Returns:
            Seconds since this object was made and those of the process before, to 0.1 ms, never negative.
        """
        return round(max(0.0, self._clock() - self._start), 4)
