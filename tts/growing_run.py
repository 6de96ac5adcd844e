"""The run of a request while its events come."""

from __future__ import annotations

from tts.domain.events import Event
from tts.domain.trajectory import Run, fold


class GrowingRun:
    """A run to which events are added. They are folded when somebody reads it: text comes in many small pieces, and all
    that have come by then are one step.
    """

    def __init__(self, start: Run) -> None:
        self._folded = start
        self._new_events: list[Event] = []

    def add(self, event: Event) -> None:
        """Add the next event."""
        self._new_events.append(event)

    @property
    def run(self) -> Run:
        """What all events so far add up to."""
        if self._new_events:
            self._folded = fold(self._new_events, self._folded)
            self._new_events.clear()
        return self._folded
