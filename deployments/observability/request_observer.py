"""Observers of requests: metrics and the audit log. They get every event of the log and cannot change a request."""

from __future__ import annotations

from collections.abc import Sequence

from deployments.runstore import RunMeta
from tts.domain.events import Event
from tts.domain.usage import Usage


class RequestObserver:
    """Called in order, in the gateway that works on the request. Must be quick; only `on_accepted` may raise.

    A subclass defines the calls that it needs; the others do nothing.
    """

    def on_accepted(self, meta: RunMeta) -> None:
        """Called before the work starts. When it raises, the request is refused.

        Args:
            meta: the request.
        """

    def on_event(self, meta: RunMeta, event: Event) -> None:
        """Called for each event once the log has it; for a refused request only for what left the machine.

        Args:
            meta: the request.
            event: the event, as its log has it.
        """

    def on_end(self, meta: RunMeta, seconds: float, used: Usage) -> None:
        """Called when the work of this gateway on the request has ended, however it ended.

        Args:
            meta: the request.
            seconds: how long this gateway worked on it.
            used: what its models used in all, including what no event had reported when it was cancelled.
        """

    def on_erased(self, meta: RunMeta) -> None:
        """Called after the run store has erased the request.

        Args:
            meta: the request, as it was before.
        """


class RequestObservers(RequestObserver):
    """Several as one."""

    def __init__(self, observers: Sequence[RequestObserver]) -> None:
        self._observers = tuple(observers)

    def on_accepted(self, meta: RunMeta) -> None:
        """Call each observer in order. If one raises, the request is refused, and the observers after it are not
        called."""
        for observer in self._observers:
            observer.on_accepted(meta)

    def on_event(self, meta: RunMeta, event: Event) -> None:
        """Tell each of an event, in order."""
        for observer in self._observers:
            observer.on_event(meta, event)

    def on_end(self, meta: RunMeta, seconds: float, used: Usage) -> None:
        """Tell each of the end of a request, in order."""
        for observer in self._observers:
            observer.on_end(meta, seconds, used)

    def on_erased(self, meta: RunMeta) -> None:
        """Tell each of an erasure, in order."""
        for observer in self._observers:
            observer.on_erased(meta)
