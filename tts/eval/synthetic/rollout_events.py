"""Writes a rollout as the loop emits it: started, text, calls, results, beliefs, checkpoints, finished."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from tts.domain.answer import StopReason
from tts.domain.events import (
    Event,
    Hypothesised,
    RolloutFinished,
    RolloutStarted,
    Text,
    ToolCalled,
    ToolResulted,
    TurnFinished,
)
from tts.domain.hypothesis import Hypothesis
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import Fact, PlaceFact, TextFact, ToolCall, WebFact
from tts.domain.trajectory import Trajectory, fold
from tts.domain.usage import Usage
from tts.toolkit.spec import Observation
from tts.toolkit.toolbox import success_outcome

_RETRIEVED_AT = "2026-01-05T09:00:00Z"
WHOLE = Box(x0=0.0, y0=0.0, x1=1.0, y1=1.0)


class RolloutWriter:
    """One rollout under way; `end` closes it."""

    def __init__(self) -> None:
        self._events: list[Event] = [RolloutStarted(rollout_id=0)]
        self._turn = 0
        self._calls = 0

    def call(self, words: str, name: str, arguments: dict[str, JsonValue], facts: Sequence[Fact]) -> str:
        """A turn with one tool call and what it returned; gives the id of the call."""
        call = ToolCall(id=f"call_{self._turn}_0", name=name, arguments=arguments)
        text = "\n".join(_line(fact) for fact in facts)
        self._calls += 1
        observation = Observation(text=text, facts=tuple(facts))
        result = success_outcome(call, observation, elapsed_s=0.0, retrieved_at=_RETRIEVED_AT).result
        self._events += [
            Text(rollout_id=0, turn=self._turn, text=words),
            ToolCalled(rollout_id=0, turn=self._turn, call=call),
            ToolResulted(rollout_id=0, turn=self._turn, result=result),
            TurnFinished(rollout_id=0, turn=self._turn, usage=Usage(turns=self._turn + 1, tool_calls=self._calls)),
        ]
        self._turn += 1
        return call.id

    def believe(self, text: str, belief: Hypothesis) -> None:
        """A turn without a call, with a belief that later turns may revise."""
        usage = Usage(turns=self._turn + 1, tool_calls=self._calls)
        self._events += [
            Text(rollout_id=0, turn=self._turn, text=text),
            Hypothesised(rollout_id=0, turn=self._turn, hypothesis=belief),
            TurnFinished(rollout_id=0, turn=self._turn, usage=usage),
        ]
        self._turn += 1

    def end(self, text: str, belief: Hypothesis) -> Trajectory:
        """The last turn with the answer. The rollout's number is given when it joins others."""
        self.believe(text, belief)
        usage = Usage(turns=self._turn, tool_calls=self._calls)
        self._events.append(RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, answer=belief, usage=usage))
        return fold(self._events).trajectories[0]


def reading_of(lines: Sequence[str]) -> tuple[Reading, ...]:
    """What perception read off the photo; nothing when there are no lines."""
    if not lines:
        return ()
    read = tuple(TextLine(text=line, box=WHOLE, confidence=0.95, height_px=40.0) for line in lines)
    return (Reading(photo_sha256="0" * 64, lines=read),)


def text_fact(line: str) -> TextFact:
    """What a tool that reads the whole photo returns for a line; the confidence is always 0.9."""
    return TextFact(text=line, box=WHOLE, confidence=0.9)


def _line(fact: Fact) -> str:
    if isinstance(fact, PlaceFact):
        return f"[{fact.id}] {fact.name} | {fact.address or fact.admin1}, {fact.country_code} | {fact.point}"
    if isinstance(fact, WebFact):
        return f"[{fact.number}] {fact.title}\n{fact.snippet}\n{fact.url}"
    return fact.text if isinstance(fact, TextFact) else ""
