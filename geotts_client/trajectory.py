"""The course of a request, computed from its events.

Only `fold(events)` makes a `Run`; every consumer (verifier, JSON reply, records, evaluation) reads the same value.
Invariants, tested as properties: folding is incremental (`fold(a + b) == fold(b, fold(a))`), does not depend on how
text was divided into pieces, and ignores an event whose `seq` it has already seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from geotts_client.answer import Answer, StopReason
from geotts_client.cues import Cues
from geotts_client.events import (
    Accepted,
    Answered,
    Consensus,
    Done,
    Escalated,
    Event,
    Failed,
    Hypothesised,
    LeftMachine,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    Routed,
    Text,
    ToolCalled,
    ToolResulted,
    TurnFinished,
    VerifierText,
)
from geotts_client.failure import RolloutFailure
from geotts_client.hypothesis import Hypothesis
from geotts_client.latlon import LatLon
from geotts_client.source import Source
from geotts_client.tooling import ToolCall, ToolResult
from geotts_client.usage import Usage
from geotts_client.value import Value


class Turn(Value):
    """One turn of a model: its text, its tool calls, their results, and its hypothesis after them.

    `problem` says why the turn could not be used, `cut` that its text was cut off.
    """

    index: int
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    finished: bool = False
    usage: Usage = Usage()
    cues: Cues | None = None
    problem: str = ""
    cut: bool = False


class Trajectory(Value):
    """One rollout from start to end. `answer` is null while it runs, and if it never had a hypothesis."""

    rollout_id: int
    seed: int = 0
    source: Source = ""
    moved: str = Field(
        default="",
        description="why another model than planned continued it; absent if none did",
        exclude_if=lambda moved: not moved,
    )
    direction: str = Field(
        default="",
        description="the direction that the rollout got (its first subject); absent if it got none",
        exclude_if=lambda direction: not direction,
    )
    turns: tuple[Turn, ...] = ()
    resumed: int = 0
    stop_reason: StopReason | None = None
    answer: Hypothesis | None = None
    usage: Usage = Usage()
    error: str = ""
    failure: RolloutFailure | None = None
    answer_draws: tuple[LatLon | None, ...] = ()

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Results of all turns, in order, failures among them."""
        return tuple(result for turn in self.turns for result in turn.results)

    @property
    def text(self) -> str:
        """What the model wrote in all turns, one turn after the other on a new line; empty turns are left out."""
        return "\n".join(turn.text for turn in self.turns if turn.text)

    @property
    def best(self) -> Hypothesis | None:
        """The answer, else the latest hypothesis that names a point."""
        if self.answer is not None:
            return self.answer
        stated = [h for turn in self.turns for h in turn.hypotheses if not h.abstains]
        return stated[-1] if stated else None


class Run(Value):
    """A whole request as its events tell it. `inquiry`: the verifier's own tool calls, a turn for each round."""

    accepted: Accepted | None = None
    routed: Routed | None = None
    rollouts: dict[int, Trajectory] = {}
    consensus: Consensus | None = None
    escalations: tuple[Escalated, ...] = ()
    inquiry: tuple[Turn, ...] = ()
    verifier_text: str = ""
    answer: Answer | None = None
    failure: Failed | None = None
    stop_reason: StopReason | None = None
    left_machine: LeftMachine | None = None
    last_seq: int = 0

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """All rollouts that the events name, in the order of their ids."""
        return tuple(self.rollouts[i] for i in sorted(self.rollouts))


def fold(events: Iterable[Event], start: Run | None = None) -> Run:
    """Apply events to a run.

    Args:
        events: in the order of their numbers. Those that `start` has already are skipped; unnumbered events (`seq` 0)
            are always applied.
        start: the run so far; None for an empty one. It is not changed.

    Returns:
        The run after the events.
    """
    run = start or Run()
    for event in events:
        if event.seq and event.seq <= run.last_seq:
            continue
        changed = _CHANGES_BY_EVENT[type(event)](run, event)
        if event.seq:
            changed["last_seq"] = event.seq
        run = run.model_copy(update=changed)
    return run


Changed = dict[str, Any]


def _set_field(field: str) -> Callable[[Run, Any], Changed]:
    return lambda run, event: {field: event}


def _change_trajectory(run: Run, rollout_id: int, **update: Any) -> Changed:
    before = run.rollouts.get(rollout_id) or Trajectory(rollout_id=rollout_id)
    return {"rollouts": {**run.rollouts, rollout_id: before.model_copy(update=update)}}


def _change_turn(run: Run, e: Any, change: Callable[[Turn], Changed], **update: Any) -> Changed:
    """Change the turn of an event, and its trajectory with it."""
    trajectory = run.rollouts.get(e.rollout_id)
    turns = _change_turn_at(trajectory.turns if trajectory is not None else (), e.turn, change)
    return _change_trajectory(run, e.rollout_id, turns=turns, **update)


def _change_asking_turn(run: Run, e: ToolCalled | ToolResulted, change: Callable[[Turn], Changed]) -> Changed:
    """Change the turn of the rollout that asked, or the round of the verifier."""
    if e.asker == "verifier":
        return {"inquiry": _change_turn_at(run.inquiry, e.turn, change)}
    return _change_turn(run, e, change)


def _change_turn_at(turns: tuple[Turn, ...], index: int, change: Callable[[Turn], Changed]) -> tuple[Turn, ...]:
    """Turns with one changed, which is created at the end if it is new."""
    at = next((i for i, turn in enumerate(turns) if turn.index == index), len(turns))
    turn = turns[at] if at < len(turns) else Turn(index=index)
    return (*turns[:at], turn.model_copy(update=change(turn)), *turns[at + 1 :])


def _add_text(run: Run, e: Text) -> Changed:
    return _change_turn(run, e, lambda turn: {"text": turn.text + e.text})


def _add_call(run: Run, e: ToolCalled) -> Changed:
    return _change_asking_turn(run, e, lambda turn: {"calls": (*turn.calls, e.call)})


def _add_result(run: Run, e: ToolResulted) -> Changed:
    return _change_asking_turn(run, e, lambda turn: {"results": (*turn.results, e.result)})


def _add_hypothesis(run: Run, e: Hypothesised) -> Changed:
    return _change_turn(run, e, lambda turn: {"hypotheses": (*turn.hypotheses, e.hypothesis)})


def _finish_turn(run: Run, e: TurnFinished) -> Changed:
    fields = {name: getattr(e, name) for name in ("usage", "cues", "problem", "cut")}
    return _change_turn(run, e, lambda _: {"finished": True, **fields}, usage=e.usage)


def _resume_rollout(run: Run, e: RolloutResumed) -> Changed:
    trajectory = run.rollouts.get(e.rollout_id) or Trajectory(rollout_id=e.rollout_id)
    kept = tuple(turn for turn in trajectory.turns if turn.finished and turn.index <= e.from_turn)
    usage = kept[-1].usage if kept else Usage()
    moved = "; ".join(part for part in (trajectory.moved, e.moved) if part)
    return _change_trajectory(run, e.rollout_id, turns=kept, resumed=trajectory.resumed + 1, usage=usage, moved=moved)


def _finish_rollout(run: Run, e: RolloutFinished) -> Changed:
    ended = {name: getattr(e, name) for name in ("stop_reason", "answer", "usage", "error", "failure", "answer_draws")}
    return _change_trajectory(run, e.rollout_id, **ended)


_CHANGES_BY_EVENT: dict[type, Callable[[Run, Any], Changed]] = {
    Accepted: _set_field("accepted"),
    Routed: _set_field("routed"),
    RolloutStarted: lambda run, e: _change_trajectory(
        run, e.rollout_id, seed=e.seed, source=e.source, direction=e.direction
    ),
    Text: _add_text,
    ToolCalled: _add_call,
    ToolResulted: _add_result,
    Hypothesised: _add_hypothesis,
    TurnFinished: _finish_turn,
    RolloutResumed: _resume_rollout,
    RolloutFinished: _finish_rollout,
    Consensus: _set_field("consensus"),
    Escalated: lambda run, e: {"escalations": (*run.escalations, e), "verifier_text": ""},
    VerifierText: lambda run, e: {"verifier_text": run.verifier_text + e.text},
    Answered: lambda run, e: {"answer": e.answer},
    Failed: _set_field("failure"),
    LeftMachine: _set_field("left_machine"),
    Done: lambda run, e: {"stop_reason": e.stop_reason},
}
