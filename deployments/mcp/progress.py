"""Turns events into progress notifications: one sentence for each milestone of a request."""

from __future__ import annotations

from tts.domain.events import Accepted, Answered, Escalated, Event, RolloutFinished, Routed, ToolCalled

_LONGEST = 200


def milestone(event: Event) -> str:
    """The sentence for an event; empty for those that are no milestone."""
    if isinstance(event, Accepted):
        return f"accepted as {event.request_id}"
    if isinstance(event, Routed):
        return f"{event.plan.n_planned} agents look at the photo"
    if isinstance(event, ToolCalled):
        asker = "the verifier" if event.asker == "verifier" else f"agent {event.rollout_id}"
        return f"{asker} calls {event.call.name}"
    if isinstance(event, RolloutFinished):
        found = event.answer
        place = "" if found is None else found.city or found.region or found.country
        return f"agent {event.rollout_id} has finished{': ' + place[:_LONGEST] if place else ''}"
    if isinstance(event, Escalated):
        return f"{event.added} more agents: {event.reason[:_LONGEST]}"
    return "the answer is there" if isinstance(event, Answered) else ""
