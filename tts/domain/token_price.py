"""What tokens of a model cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.usage import Usage
from tts.domain.value import Value

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_MILLION = 1e6


class Price(Value):
    """What an endpoint asks for its tokens."""

    input: Dollars = Field(description="US dollars for a million tokens of the prompt")
    cached_input: Dollars | None = Field(
        default=None,
        description="US dollars for a million tokens of the prompt that are read from the cache. Default: as input",
    )
    output: Dollars = Field(description="US dollars for a million generated tokens")

    def cost_usd(self, usage: Usage) -> float:
        """What a generation cost, by the tokens the endpoint counted."""
        cached_rate = self.input if self.cached_input is None else self.cached_input
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        prompt = (usage.prompt_tokens - cached) * self.input + cached * cached_rate
        return (prompt + usage.completion_tokens * self.output) / _MILLION

    def affordable_tokens(self, money_usd: float, prompt_tokens: int) -> int:
        """How many tokens a completion may have after a prompt of this length, nothing of it cached; 0 for none."""
        money_for_output = money_usd * _MILLION - prompt_tokens * self.input
        if money_for_output <= 0:
            return 0
        return 2**31 if self.output == 0 else int(money_for_output / self.output)
