"""The limits of one provider: rate, requests at once, time, retries, and when it is left alone.

`ProviderClient` keeps to them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.value import Value
from tts.toolkit.broker.circuit_breaker import BreakerConfig


class ProviderLimits(Value):
    """Limits of requests to one provider.

    Requests a second (`per_s`, with bursts of `burst`) and at once (`max_running`; others wait, at most `max_queued`).
    A request takes at most `timeout_s` and is sent again up to `retries` times, after `backoff_s` doubled each time. A
    key without quota is not used for `quota_rest_s`.
    """

    per_s: Annotated[float, Field(gt=0)] = 10.0
    burst: Annotated[float, Field(ge=1)] = 10.0
    max_running: Annotated[int, Field(ge=1)] = 8
    max_queued: Annotated[int, Field(ge=0)] = 256
    timeout_s: Annotated[float, Field(gt=0)] = 10.0
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    backoff_s: Annotated[float, Field(gt=0)] = 0.25
    quota_rest_s: Annotated[float, Field(gt=0)] = 3600.0
    breaker: BreakerConfig = BreakerConfig()
