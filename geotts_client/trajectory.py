"""The course of a request, computed from its events.

Only `fold(events)` makes a `Run`; every consumer (verifier, JSON reply, records, evaluation) reads the same value.
Invariants, tested as properties: folding is incremental (`fold(a + b) == fold(b, fold(a))`), does not depend on how
text was divided into pieces, and ignores an event whose `seq` it has already seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """One turn of a model: its text, its tool calls, their results, and its hypotheses."""

    index: int = Field(description="number of the turn in its rollout, from 0; in an inquiry, number of the round")
    text: str = Field(default="", description="what the model wrote")
    calls: tuple[ToolCall, ...] = Field(default=(), description="tool calls of the turn, in order")
    results: tuple[ToolResult, ...] = Field(default=(), description="results of these calls")
    hypotheses: tuple[Hypothesis, ...] = Field(
        default=(), description="what the rollout stated in this turn; the last one counts"
    )
    finished: bool = Field(default=False, description="true: the turn has ended; false: it still runs, or was cut off")
    usage: Usage = Field(
        default=Usage(),
        description="what the rollout had used at the end of this turn, earlier turns included; zeros before its end",
    )
    cues: Cues | None = Field(
        default=None, description="what the first turn says about the photo; null for later turns"
    )
    problem: str = Field(default="", description="why the turn could not be used; empty if it was used")
    cut: bool = Field(default=False, description="true: the text ended at the token limit or at the end of the context")


class Trajectory(Value):
    """One rollout from start to end."""

    rollout_id: int = Field(description="id of the rollout, counted from 0")
    seed: int = Field(default=0, description="seed of the rollout")
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
    turns: tuple[Turn, ...] = Field(
        default=(), description="its turns, in order; left out of replies with `include=summary`"
    )
    resumed: int = Field(default=0, description="how often it was continued after an interruption")
    stop_reason: StopReason | None = Field(default=None, description="why it ended; null while it runs")
    answer: Hypothesis | None = Field(
        default=None, description="its final answer, else its best hypothesis; null if it had none, or while it runs"
    )
    usage: Usage = Field(default=Usage(), description="what it has used so far")
    error: str = Field(default="", description="code and detail of the failure; empty if it did not fail")
    failure: RolloutFailure | None = Field(
        default=None, description="what failed, and what to do about it; null if it did not fail"
    )
    answer_draws: tuple[LatLon | None, ...] = Field(
        default=(), description="points of the answer draws; null for a draw without a point"
    )

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
    """A whole request as its events tell it."""

    accepted: Accepted | None = Field(default=None, description="the event `accepted`; null before it")
    routed: Routed | None = Field(default=None, description="the event `routed`; null before it")
    rollouts: dict[int, Trajectory] = Field(default={}, description="the rollouts by their ids")
    consensus: Consensus | None = Field(default=None, description="the last event `consensus`; null if there is none")
    escalations: tuple[Escalated, ...] = Field(default=(), description="the events `escalated`, in order")
    inquiry: tuple[Turn, ...] = Field(default=(), description="the verifier's own tool calls, a turn for each round")
    verifier_text: str = Field(default="", description="reasons of the verifier since the last escalation")
    answer: Answer | None = Field(default=None, description="the answer; null before it, and if the request failed")
    failure: Failed | None = Field(
        default=None, description="the problem that ended the request; null if there is none"
    )
    stop_reason: StopReason | None = Field(default=None, description="why the request ended; null while it runs")
    left_machine: LeftMachine | None = Field(
        default=None, description="what left this machine; null if nothing did, or before the end"
    )
    last_seq: int = Field(default=0, description="number of the last event in it; 0 if there is none")

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
    last_seq = run.last_seq
    texts: dict[tuple[int, int], list[str]] = {}  # pieces of the same turn are added together: most events are text
    for event in events:
        if event.seq:
            if event.seq <= last_seq:
                continue
            last_seq = event.seq
        if isinstance(event, Text):
            texts.setdefault((event.rollout_id, event.turn), []).append(event.text)
            continue
        run = _with_texts(run, texts)
        texts.clear()
        run = run.model_copy(update=_CHANGES_BY_EVENT[type(event)](run, event) | {"last_seq": last_seq})
    run = _with_texts(run, texts)
    return run if run.last_seq == last_seq else run.model_copy(update={"last_seq": last_seq})


def _with_texts(run: Run, texts: Mapping[tuple[int, int], Sequence[str]]) -> Run:
    """The run with text added to turns, by the number of their rollout and their own."""
    for (rollout_id, turn), pieces in texts.items():
        run = run.model_copy(update=_add_text(run, rollout_id, turn, "".join(pieces)))
    return run


Changed = dict[str, Any]


def _set_field(field: str) -> Callable[[Run, Any], Changed]:
    return lambda run, event: {field: event}


def _change_trajectory(run: Run, rollout_id: int, **update: Any) -> Changed:
    before = run.rollouts.get(rollout_id) or Trajectory(rollout_id=rollout_id)
    return {"rollouts": {**run.rollouts, rollout_id: before.model_copy(update=update)}}


def _change_turn(run: Run, rollout_id: int, turn: int, change: Callable[[Turn], Changed], **update: Any) -> Changed:
    """Change a turn, and its trajectory with it."""
    trajectory = run.rollouts.get(rollout_id)
    turns = _change_turn_at(trajectory.turns if trajectory is not None else (), turn, change)
    return _change_trajectory(run, rollout_id, turns=turns, **update)


def _change_asking_turn(run: Run, e: ToolCalled | ToolResulted, change: Callable[[Turn], Changed]) -> Changed:
    """Change the turn of the rollout that asked, or the round of the verifier."""
    if e.asker == "verifier":
        return {"inquiry": _change_turn_at(run.inquiry, e.turn, change)}
    return _change_turn(run, e.rollout_id, e.turn, change)


def _change_turn_at(turns: tuple[Turn, ...], index: int, change: Callable[[Turn], Changed]) -> tuple[Turn, ...]:
    """Turns with one changed, which is created at the end if it is new."""
    indices = [turn.index for turn in turns]
    at = indices.index(index) if index in indices else len(turns)
    turn = turns[at] if at < len(turns) else Turn(index=index)
    return (*turns[:at], turn.model_copy(update=change(turn)), *turns[at + 1 :])


def _add_text(run: Run, rollout_id: int, turn: int, text: str) -> Changed:
    return _change_turn(run, rollout_id, turn, lambda before: {"text": before.text + text})


def _add_call(run: Run, e: ToolCalled) -> Changed:
    return _change_asking_turn(run, e, lambda turn: {"calls": (*turn.calls, e.call)})


def _add_result(run: Run, e: ToolResulted) -> Changed:
    return _change_asking_turn(run, e, lambda turn: {"results": (*turn.results, e.result)})


def _add_hypothesis(run: Run, e: Hypothesised) -> Changed:
    return _change_turn(run, e.rollout_id, e.turn, lambda turn: {"hypotheses": (*turn.hypotheses, e.hypothesis)})


def _finish_turn(run: Run, e: TurnFinished) -> Changed:
    fields = {name: getattr(e, name) for name in ("usage", "cues", "problem", "cut")}
    return _change_turn(run, e.rollout_id, e.turn, lambda _: {"finished": True, **fields}, usage=e.usage)


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
