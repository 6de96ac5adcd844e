"""Makes coarse events: the course of a request without texts, lookups and hypotheses.

Kinds that are not listed here are not written. An event keeps its number, so that numbers increase with gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deployments.gateway.precision.coarse_answer import coarse_answer
from deployments.gateway.precision.units import Precision, Units
from tts.domain.events import (
    Accepted,
    Answered,
    Consensus,
    Done,
    Escalated,
    Event,
    Failed,
    LeftMachine,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    Routed,
    TurnFinished,
)

_COARSE_FORMS: dict[type, Callable[[Any], Event]] = {
    Accepted: lambda e: e,
    Routed: lambda e: e.model_copy(update={"locatability": e.locatability.model_copy(update={"why": ""})}),
    RolloutStarted: lambda e: e.model_copy(update={"direction": ""}),
    RolloutResumed: lambda e: e,
    TurnFinished: lambda e: e.model_copy(update={"cues": None, "problem": ""}),
    RolloutFinished: lambda e: e.model_copy(update={"answer": None, "error": "", "failure": None, "answer_draws": ()}),
    Consensus: lambda e: e.model_copy(update={"clusters": ()}),
    Escalated: lambda e: e.model_copy(update={"reason": "more rollouts are needed"}),
    Failed: lambda e: e,
    LeftMachine: lambda e: e.model_copy(update={"sent": tuple(one.model_copy(update={"url": ""}) for one in e.sent)}),
    Done: lambda e: e,
}


def coarse_events(events: Sequence[Event], precision: Precision, units: Units) -> Iterator[Event]:
    """Those that may leave, as they may leave."""
    for event in events:
        if isinstance(event, Answered):
            yield event.model_copy(update={"answer": coarse_answer(event.answer, precision, units)})
        elif (change := _COARSE_FORMS.get(type(event))) is not None:
            yield change(event)
