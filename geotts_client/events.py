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
    seq: Annotated[int, Field(ge=0)] = Field(
        default=0, description="number of the event, strictly increasing in a request, from 1"
    )
    t_s: Annotated[float, Field(ge=0)] = Field(
        default=0.0,
        description="seconds since the request was accepted; 0 in the last events of a request that was cancelled or "
        "lost",
    )


class _RolloutEvent(_Event):
    rollout_id: RolloutId = Field(description="id of the rollout, counted from 0")


class PhotoInfo(Value):
    """One photo of the request. The service works on a clean copy, which has no metadata."""

    sha256: str = Field(
        description="SHA-256 of the clean copy, in hexadecimal digits; the copy is at "
        "`/locate/{request_id}/files/{sha256}`",
    )
    source_sha256: str = Field(description="SHA-256 of the bytes that were sent, in hexadecimal digits")
    width: int = Field(description="width of the clean copy in pixels")
    height: int = Field(description="height of the clean copy in pixels")


class Accepted(_Event):
    """The service accepted the request. This is its first event."""

    type: Literal["accepted"] = "accepted"
    request_id: str = Field(description="id of the request: `loc_` and 20 hexadecimal digits")
    schema_version: int = Field(default=SCHEMA_VERSION, description="version of the names and forms of events")
    photos: tuple[PhotoInfo, ...] = Field(description="the photos of the request, in order")
    n_parallel: int = Field(
        description="number of rollouts that the caller asked for, or that followed from the budget"
    )
    depth: Depth = Field(description="amount of work that the caller asked for")
    engine: str = Field(
        default="", description="kind of the engine, such as `openai`; several kinds are joined by ` + `"
    )
    dialect: str = Field(default="", description="dialect of the rollouts: the caller's, else that of the service")
    seed: int = Field(
        default=0, description="seed of the request: the caller's, else one that follows from the first photo"
    )
    continues: str = Field(default="", description="the request that this one continues")


class Routed(_Event):
    """The service rated the photos and made a plan."""

    type: Literal["routed"] = "routed"
    locatability: Locatability = Field(description="how easily the photos can be located")
    plan: Plan = Field(description="the first plan")


class RolloutStarted(_RolloutEvent):
    """A rollout begins."""

    type: Literal["rollout_started"] = "rollout_started"
    seed: int = Field(default=0, description="seed of the rollout; it follows from that of the request")
    source: Source = ""
    direction: str = Field(
        default="",
        description="the direction that the rollout got (its first subject); absent if it got none",
        exclude_if=lambda direction: not direction,
    )


class Text(_RolloutEvent):
    """A part of the text of the model. Consecutive parts of one turn may have been merged."""

    type: Literal["text"] = "text"
    turn: int = Field(description="number of the turn in its rollout, from 0")
    text: str = Field(description="the next piece of the text")


class ToolCalled(_RolloutEvent):
    """A rollout, or the verifier, calls a tool."""

    type: Literal["tool_called"] = "tool_called"
    turn: int = Field(description="number of the turn in its rollout, from 0")
    call: ToolCall = Field(description="the tool and its arguments")
    asker: Asker = "rollout"


class ToolResulted(_RolloutEvent):
    """A tool call ended, with a result or with a failure."""

    type: Literal["tool_result"] = "tool_result"
    turn: int = Field(description="number of the turn in its rollout, from 0")
    result: ToolResult = Field(description="the result; its `call_id` names the call")
    asker: Asker = "rollout"


class Hypothesised(_RolloutEvent):
    """A rollout states the place that it considers right after this turn."""

    type: Literal["hypothesis"] = "hypothesis"
    turn: int = Field(description="number of the turn in its rollout, from 0")
    hypothesis: Hypothesis = Field(description="the place, or an abstention")


class TurnFinished(_RolloutEvent):
    """A checkpoint: the rollout can be continued from here."""

    type: Literal["turn_finished"] = "turn_finished"
    turn: int = Field(description="number of the turn in its rollout, from 0")
    usage: Usage = Field(description="what the rollout has used so far, this turn included")
    cues: Cues | None = Field(default=None, description="what the first turn says about the photo")
    problem: str = Field(default="", description="why the turn could not be used; empty if it was used")
    cut: bool = Field(default=False, description="true: the text ended at the token limit or at the end of the context")


class RolloutResumed(_RolloutEvent):
    """The rollout continues after an earlier turn. Text of later turns that was already sent is no longer valid."""

    type: Literal["rollout_resumed"] = "rollout_resumed"
    from_turn: int = Field(description="the last turn that still counts; -1 if none does")
    moved: str = Field(
        default="",
        description="why another model continues the rollout; it names the model that did not answer; absent otherwise",
        exclude_if=lambda moved: not moved,
    )


class RolloutFinished(_RolloutEvent):
    """The end of one rollout."""

    type: Literal["rollout_finished"] = "rollout_finished"
    stop_reason: StopReason = Field(description="why the rollout ended")
    answer: Hypothesis | None = Field(
        default=None, description="its final answer, else its best hypothesis; null if it had none"
    )
    usage: Usage = Field(default=Usage(), description="what the whole rollout used")
    error: str = Field(default="", description="code and detail of the failure; empty if the rollout did not fail")
    failure: RolloutFailure | None = Field(
        default=None, description="what failed, and what to do about it; null if the rollout did not fail"
    )
    answer_draws: tuple[LatLon | None, ...] = Field(
        default=(), description="points of the answer draws; null for a draw without a point"
    )


class ClusterInfo(Value):
    """Rollouts whose hypotheses lie near one of them."""

    centre: LatLon = Field(description="the hypothesis that most others are near to")
    rollouts: tuple[int, ...] = Field(description="ids of the rollouts in it")
    witnesses: float = Field(
        description="number of independent witnesses among them. Rollouts that rest on one tool statement count as "
        "one; answer draws that disagree lower the number",
    )
    support: float = Field(description="its share of all witnesses, 0 to 1")


class Consensus(_Event):
    """How many of the hypotheses so far agree within the target radius."""

    type: Literal["consensus"] = "consensus"
    radius_km: float = Field(description="target radius of the request, in km")
    clusters: tuple[ClusterInfo, ...] = Field(description="at most five, the one with the most witnesses first")
    finished: int = Field(description="number of rollouts that have ended")
    outstanding: int = Field(description="number of rollouts that have not ended")
    decided: bool = Field(default=False, description="true: the stop policy would stop the rollouts that still run")


class Escalated(_Event):
    """More rollouts start, with a plan of their own. In a check, these may be the testing rollouts."""

    type: Literal["escalated"] = "escalated"
    reason: str = Field(description="why, in a few words")
    added: int = Field(description="number of rollouts that are planned in addition")
    plan: Plan = Field(description="the plan for them")


class VerifierText(_Event):
    """The verifier gives its reasons, piece by piece. After `escalated`, it starts again."""

    type: Literal["verifier_text"] = "verifier_text"
    text: str = Field(description="the next piece of the text")


class Answered(_Event):
    """The service gives the answer, which may be an abstention."""

    type: Literal["answer"] = "answer"
    answer: Answer = Field(description="the whole answer, as a JSON reply has it")


class Failed(_Event):
    """The problem (RFC 9457) that ended the request."""

    type: Literal["error"] = "error"
    code: str = Field(description="what went wrong: the last part of the problem's `type`")
    status: int = Field(description="HTTP status of the problem")
    detail: str = Field(description="what went wrong and what to do, in one sentence")
    causes: tuple[FailureCause, ...] = Field(
        default=(), description="why no rollout could work, the most frequent cause first; empty for other problems"
    )
    retry_after_s: float | None = Field(
        default=None, description="seconds after which the request may be sent again; null if nobody stated them"
    )


class LeftMachine(_Event):
    """Everything that left this machine for the request. The event comes before `done`, and only if something left."""

    type: Literal["left_machine"] = "left_machine"
    engines: tuple[str, ...] = Field(
        default=(),
        description="hosts of remote engines, which get photos and conversations; empty if every engine runs in this "
        "service",
    )
    sent: tuple[Outgoing, ...] = Field(
        default=(),
        description="each HTTP request that left this machine, in the order of time: of tools, to remote engines, and "
        "for photos that were given as URLs",
    )
    complete: bool = Field(
        default=True,
        description="false: some of it is not known, because a process that may have sent something was lost",
    )


class Done(_Event):
    """The request has ended. This is its last event."""

    type: Literal["done"] = "done"
    stop_reason: StopReason = Field(description="why the request ended")


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
        self._started_at = clock() - elapsed_s
        self._last_seq = last_seq

    def __call__(self, event: Event) -> Event:
        """A copy of the event with the next `seq` and the time; every call counts."""
        self._last_seq += 1
        return event.model_copy(update={"seq": self._last_seq, "t_s": self.elapsed_s()})

    def elapsed_s(self) -> float:
        """Read the clock of the request.

        Returns:
            Seconds since this object was made and those of the process before, to 0.1 ms, never negative.
        """
        return round(max(0.0, self._clock() - self._started_at), 4)
