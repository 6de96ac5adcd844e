"""Keys of one provider: used in turn, set aside while their quota is exhausted, dropped when they are refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from tts.errors import ToolError, ToolErrorKind
from tts.net.secret import Secret

_FOREVER = float("inf")
_log = logging.getLogger(__name__)


class KeyPool:
    """Hands out keys in turn.

    Args:
        keys: the keys of one provider; equal ones count once.
        now: a clock in seconds.
    """

    def __init__(self, keys: Sequence[Secret], now: Callable[[], float]) -> None:
        self._free_at = dict.fromkeys(keys, 0.0)
        self._order = list(self._free_at)
        self._now = now

    @property
    def usable(self) -> int:
        """Keys that may be used now."""
        return sum(at <= self._now() for at in self._free_at.values())

    def take(self) -> Secret:
        """Choose the next usable key.

        Returns:
            The usable key that was chosen longest ago.

        Raises:
            ToolError: QUOTA, with the time until the first key recovers, if any does.
        """
        for i, key in enumerate(self._order):
            if self._free_at[key] <= self._now():
                self._order.append(self._order.pop(i))
                return key
        first = min(self._free_at.values(), default=_FOREVER)
        raise ToolError(
            "every key for this service is used up or refused",
            kind=ToolErrorKind.QUOTA,
            retry_after_s=None if first == _FOREVER else round(first - self._now(), 1),
        )

    def set_aside(self, key: Secret, for_s: float) -> None:
        """The key's quota is exhausted.

        Args:
            key: what `take` returned.
            for_s: seconds from now for which `take` leaves it out. A longer rest that it has already stays.
        """
        self._free_at[key] = max(self._free_at[key], self._now() + for_s)
        _log.warning("a key is out of quota, %d of %d left", self.usable, len(self._order))

    def drop(self, key: Secret) -> None:
        """The provider refuses the key: it is not tried again.

        Args:
            key: what `take` returned.
        """
        self._free_at[key] = _FOREVER
        _log.warning("a key was refused, %d of %d left", self.usable, len(self._order))
