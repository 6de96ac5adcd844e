"""Keeps SIGTERM and SIGINT of this process while Ray starts in it.

Ray replaces the SIGTERM handler twice: `ray.init` sets one in Python that exits, and the core worker one in C++ that
prints a stack and aborts (exit code 134), which no later handler in Python sees.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deployments.seam.ray import without_signal_handlers

_KEPT_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def keep_signal_handlers() -> Iterator[None]:
    """Within the block `ray.init` leaves the handlers of this process alone. Signals are never lost, nor deadly.

    A signal that comes once the core worker is being made is handled at the end of the block. A handler that raised
    in between would leave a core worker that nobody holds and nobody shuts down: when the process exits, it waits for a
    cluster that is gone by then. (Blocking signals would not do: other threads of the process take them.)

    Outside the main thread no handler can be set, by Ray neither, so only the one in C++ is kept out.
    """
    later = _DeferredSignals()
    try:
        with without_signal_handlers(later.begin):
            yield
    finally:
        later.end()


class _DeferredSignals:
    """Notes the signals between `begin` and `end`, and hands them to their handlers then."""

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._received_signals: set[int] = set()

    def begin(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.signal(number, self._note_signal) for number in _KEPT_SIGNALS}

    def end(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        for number in self._received_signals:
            signal.raise_signal(number)

    def _note_signal(self, number: int, frame: object) -> None:
        self._received_signals.add(number)
