"""When to ask an endpoint again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tts.errors import GeoTTSError

RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """Doubling pauses with jitter: the n-th lies between half and all of `first_s · 2ⁿ`, never above 30 s."""

    first_s: float
    random: random.Random = field(default_factory=random.Random)

    def pause_s(self, attempt: int, retry_after_s: float | None) -> float:
        """Seconds before the next try. What the server asks for is a lower bound, and gets a little jitter on top."""
        if retry_after_s is not None:
            return retry_after_s + self.random.uniform(0.0, 0.1 * self.first_s)
        longest = min(_MAX_PAUSE_S, self.first_s * float(2**attempt))
        return self.random.uniform(0.5, 1.0) * longest


class AskAgain(GeoTTSError):
    """The endpoint refused this form of the request, another is known. `failure` is what to say when it is not."""

    def __init__(self, failure: GeoTTSError, max_tokens: int | None = None) -> None:
        super().__init__(failure.detail)
        self.failure = failure
        self.max_tokens = max_tokens


def retry_after_s(header: str | None) -> float | None:
    """RFC 9110: seconds or a date; None when there is none or it makes no sense."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _seconds_until(header)
    return seconds if 0.0 <= seconds < 86400.0 else None


def _seconds_until(header: str) -> float | None:
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    aware = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
