"""Turns events into progress notifications: one sentence for each milestone of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tts.domain.events import Accepted, Answered, Escalated, Event, RolloutFinished, Routed, ToolCalled
from tts.domain.value import Value

_MAX_TEXT_CHARS = 200


def milestone(event: Event) -> str:
    """The sentence for an event whose type is in `MILESTONES`."""
    return _TEXT_BY_EVENT[type(event)](event)


def _tool_call_text(event: ToolCalled) -> str:
    asker = "the verifier" if event.asker == "verifier" else f"agent {event.rollout_id}"
    return f"{asker} calls {event.call.name}"


def _rollout_end_text(event: RolloutFinished) -> str:
    found = event.answer
    place = "" if found is None else found.city or found.region or found.country
    return f"agent {event.rollout_id} has finished{': ' + place[:_MAX_TEXT_CHARS] if place else ''}"


_TEXT_BY_EVENT: dict[type[Value], Callable[[Any], str]] = {
    Accepted: lambda e: f"accepted as {e.request_id}",
    Routed: lambda e: f"{e.plan.n_planned} agents look at the photo",
    ToolCalled: _tool_call_text,
    RolloutFinished: _rollout_end_text,
    Escalated: lambda e: f"{e.added} more agents: {e.reason[:_MAX_TEXT_CHARS]}",
    Answered: lambda _: "the answer is there",
}
MILESTONES: Final = frozenset(kind.model_fields["type"].default for kind in _TEXT_BY_EVENT)
