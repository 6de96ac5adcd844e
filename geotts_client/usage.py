"""What a request used. Values can be added: the usage of a request is the sum of its rollouts, and of their turns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.value import Value

Count = Annotated[int, Field(ge=0)]


class Usage(Value):
    """Counts, seconds and money. Nothing is null: what was not used, or is not known, is 0."""

    turns: Count = Field(default=0, description="turns of rollouts")
    model_calls: Count = Field(
        default=0, description="calls of a model: turns, answer draws, and calls of other models such as the verifier"
    )
    prompt_tokens: Count = Field(
        default=0, description="tokens that models read, pictures included; cached ones count too"
    )
    completion_tokens: Count = Field(default=0, description="tokens that models wrote")
    cached_tokens: Count = Field(
        default=0,
        description="the part of `prompt_tokens` that the engine found in its prefix cache; 0 if the endpoint does "
        "not report it",
    )
    preempted_tokens: Count = Field(
        default=0, description="tokens of unfinished turns whose place in the cache the engine gave to other turns"
    )
    tool_calls: Count = Field(default=0, description="tool calls of rollouts and of the verifier that were run")
    tool_errors: Count = Field(
        default=0, description="tool calls that failed, and refused ones, which `tool_calls` does not count"
    )
    cache_hits: Count = Field(
        default=0, description="tool calls whose result came from a cache, so that no provider was asked"
    )
    gpu_s: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="GPU time of `vllm` engines in this service, in seconds; 0 for a remote endpoint"
    )
    bytes_sent: Count = Field(default=0, description="bytes that were sent to remote engines, pictures included")
    cost_usd: Annotated[float, Field(ge=0)] = Field(
        default=0.0,
        description="price of the tokens in US dollars, by the operator's price table; 0 if the model has no price",
    )

    def __add__(self, other: Usage) -> Usage:
        if not other.model_fields_set:  # all of it is 0
            return self
        if not self.model_fields_set:
            return other
        more = other.__dict__
        return self.model_copy(update={name: count + more[name] for name, count in self.__dict__.items()})


class ModelUsage(Value):
    """What the rollouts of one model of a mixture used, all together."""

    model: str = Field(description="name of the model in `engines`")
    rollouts: Annotated[int, Field(ge=1)] = Field(description="number of rollouts of this model")
    usage: Usage = Field(description="what they used")
