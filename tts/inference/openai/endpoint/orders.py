"""What operators ordered a running service to do with its endpoints."""

from __future__ import annotations

from tts.domain.value import Value


class Orders(Value):
    """Addresses that get no new conversations. `at` is when it was said, in Unix seconds; 0.0 for never."""

    at: float = 0.0
    draining: tuple[str, ...] = ()
