"""Circuit breaker: a provider that keeps failing is left alone for a while, then tried with a single call."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal

from tts.domain.value import Value
from tts.errors import ToolError, ToolErrorKind


class BreakerConfig(Value):
    """Opens after `failures` in a row, for `cool_s`, twice as long after every failed trial, up to `longest_s`."""

    failures: int = 5
    cool_s: float = 15.0
    longest_s: float = 300.0


class Breaker:
    """The breaker of one provider. `opened` counts how often it has opened.

    Args:
        config: when it opens, and for how long.
        now: a clock in seconds.
        draw: gives a random number in [0, 1), so that the breakers of several processes do not try at the same moment.
    """

    def __init__(
        self, config: BreakerConfig, now: Callable[[], float], draw: Callable[[], float] = random.random
    ) -> None:
        self._config = config
        self._now = now
        self._draw = draw
        self._failures = 0
        self._cooldown_s = config.cool_s
        self._open_until = 0.0
        self._has_trial_request = False
        self.opened = 0

    @property
    def state(self) -> Literal["closed", "open", "trial"]:
        """`closed`: calls pass. `open`: none does, or a trial is under way. `trial`: the next call is the trial."""
        if self._failures < self._config.failures:
            return "closed"
        return "open" if self._has_trial_request or self._now() < self._open_until else "trial"

    def enter(self) -> None:
        """Call before a request. Lets one trial through when it has cooled.

        Raises:
            ToolError: UNAVAILABLE, while it is open.
        """
        state = self.state
        if state == "open":
            wait_s = max(0.1, self._open_until - self._now())
            raise ToolError(
                "this service has been failing and is left alone for now",
                kind=ToolErrorKind.UNAVAILABLE,
                retry_after_s=round(wait_s, 1),
            )
        self._has_trial_request = state == "trial"

    def record_success(self) -> None:
        """The provider answered: close, and forget the failures before."""
        self._failures = 0
        self._cooldown_s = self._config.cool_s
        self._has_trial_request = False

    def record_failure(self) -> None:
        """The provider failed. Opens at the configured number in a row, and again, for longer, after a failed trial."""
        self._failures += 1
        if self._has_trial_request:
            self._cooldown_s = min(2 * self._cooldown_s, self._config.longest_s)
        if self._failures == self._config.failures or self._has_trial_request:
            self.opened += 1
            self._open_until = self._now() + self._cooldown_s * (0.75 + 0.5 * self._draw())
        self._has_trial_request = False

    def record_abandonment(self) -> None:
        """The request ended without telling anything about the provider (cancelled, or our own mistake)."""
        self._has_trial_request = False
