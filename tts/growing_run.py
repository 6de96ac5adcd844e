"""The run of a request while its events come."""

from __future__ import annotations

from tts.domain.events import Event
from tts.domain.trajectory import Run, fold

_MAX_UNFOLDED = 512  # events that wait: with more, a long text would take much memory, and a read much time


class GrowingRun:
    """A run to which events are added. They are folded when somebody reads it, or when many wait: text comes in many
    small pieces, and all that have come by then are one step.
    """

    def __init__(self, start: Run) -> None:
        self._folded = start
        self._new_events: list[Event] = []

    def add(self, event: Event) -> None:
        """Add the next event."""
        self._new_events.append(event)
        if len(self._new_events) >= _MAX_UNFOLDED:
            self._fold_new_events()

    @property
    def run(self) -> Run:
        """What all events so far add up to."""
        if self._new_events:
            self._fold_new_events()
        return self._folded

    def _fold_new_events(self) -> None:
        self._folded = fold(self._new_events, self._folded)
        self._new_events.clear()
