"""Who watches requests go by: metrics, the audit log. They see what the event log sees, and can change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from deployments.runstore import RunMeta
from tts.domain.events import Event


class Observer(Protocol):
    """Called in order, in the gateway that works on the request. Must not raise and must be quick."""

    def accepted(self, meta: RunMeta) -> None: ...

    def saw(self, meta: RunMeta, event: Event) -> None: ...

    def ended(self, meta: RunMeta, seconds: float) -> None: ...

    def erased(self, meta: RunMeta) -> None: ...


class Observers:
    """Several as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    def accepted(self, meta: RunMeta) -> None:
        for observer in self._observers:
            observer.accepted(meta)

    def saw(self, meta: RunMeta, event: Event) -> None:
        for observer in self._observers:
            observer.saw(meta, event)

    def ended(self, meta: RunMeta, seconds: float) -> None:
        for observer in self._observers:
            observer.ended(meta, seconds)

    def erased(self, meta: RunMeta) -> None:
        for observer in self._observers:
            observer.erased(meta)
