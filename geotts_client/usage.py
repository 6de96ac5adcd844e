"""What a request used. Values can be added: the usage of a request is the sum of its rollouts, and of their turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.value import Value

Count = Annotated[int, Field(ge=0)]


class Usage(Value):
    """Counts, seconds and money. `cached_tokens` are prompt tokens the engine found in its prefix cache.
    `preempted_tokens` are tokens of unfinished turns whose place in the cache the engine gave to other turns.

    `bytes_sent` went to remote engines, pictures included. `cost_usd` is known if the model has a price.
    """

    turns: Count = 0
    model_calls: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cached_tokens: Count = 0
    preempted_tokens: Count = 0
    tool_calls: Count = 0
    tool_errors: Count = 0
    cache_hits: Count = 0
    gpu_s: Annotated[float, Field(ge=0)] = 0.0
    bytes_sent: Count = 0
    cost_usd: Annotated[float, Field(ge=0)] = 0.0

    def __add__(self, other: Usage) -> Usage:
        return self.model_copy(update={name: count + getattr(other, name) for name, count in self.__dict__.items()})


class ModelUsage(Value):
    """What the rollouts of one model of a mixture used, all together."""

    model: str = Field(description="name of the model in `engines`")
    rollouts: Annotated[int, Field(ge=1)]
    usage: Usage
