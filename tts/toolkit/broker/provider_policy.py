"""How often one provider is asked, how long, how many at once, and how often again; when it is left alone."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.value import Value
from tts.toolkit.broker.breaker import BreakerConfig


class ProviderPolicy(Value):
    """How one provider is treated. `quota_rest_s` is how long a key without quota is left alone."""

    per_s: Annotated[float, Field(gt=0)] = 10.0
    burst: Annotated[float, Field(ge=1)] = 10.0
    max_running: Annotated[int, Field(ge=1)] = 8
    max_queued: Annotated[int, Field(ge=0)] = 256
    timeout_s: Annotated[float, Field(gt=0)] = 10.0
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    backoff_s: Annotated[float, Field(gt=0)] = 0.25
    quota_rest_s: Annotated[float, Field(gt=0)] = 3600.0
    breaker: BreakerConfig = BreakerConfig()
