"""The orders of operators about the endpoints of a running service: which endpoints are drained."""

from __future__ import annotations

from tts.domain.value import Value


class Orders(Value):
    """Addresses that get no new conversations. `at` is the time of the order in Unix seconds; 0.0 for no order."""

    at: float = 0.0
    draining: tuple[str, ...] = ()
