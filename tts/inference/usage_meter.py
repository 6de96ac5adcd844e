"""Counts the usage of the models outside rollouts (verifier, second reader, probe), and enforces their money limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from tts.aio import closing
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.errors import MoneySpent
from tts.inference.token_estimate import prompt_tokens_about, usage_about
from tts.ports.model_client import Delta, ModelClient, ModelRequest

_MIN_TOKENS = 256  # a reply that is cut shorter cannot be used, and is paid for all the same


class Meter:
    """One for each request and purpose. `usage` is what was used so far, `refused` the questions that were not asked.

    `money_usd` bounds all questions together; None is no limit. Questions side by side wait for each other where the
    money would not be enough for the longest replies of all of them.
    """

    def __init__(self, money_usd: float | None = None) -> None:
        self._money_usd = money_usd
        self._reserved_usd = 0.0
        self._reservation_freed_event = asyncio.Event()
        self._unreported_usage = Usage()
        self.usage = Usage()
        self.refused = 0

    async def generate(self, model: ModelClient, request: ModelRequest) -> AsyncIterator[Delta]:
        """Generate a reply, at most as long as the money allows.

        Raises:
            MoneySpent: there is too little for a reply of use; nothing is sent then.
        """
        price: Price | None = getattr(model, "price", None)
        request, reserved_usd = await self._bound_reply(request, price)
        self._reserved_usd += reserved_usd
        text: list[str] = []
        own_usage: Usage | None = None
        other_usage = Usage()
        try:
            async with closing(model.generate(request)) as deltas:
                async for delta in deltas:
                    text.append(delta.text)
                    other_usage += delta.spent or Usage()
                    if delta.usage is not None:
                        own_usage = (own_usage or Usage(model_calls=1)) + delta.usage
                    yield delta
        finally:
            if own_usage is None and any(text):  # cut off: the engine had no time to say what it was
                own_usage = usage_about(request.messages, request.tools, "".join(text), price)
            used = other_usage if own_usage is None else other_usage + own_usage
            self.usage += used
            self._unreported_usage += used
            self._reserved_usd -= reserved_usd
            self._reservation_freed_event.set()

    def take(self) -> Usage:
        """The usage since the last call, for callers that report it in parts."""
        taken = self._unreported_usage
        self._unreported_usage = Usage()
        return taken

    async def _bound_reply(self, request: ModelRequest, price: Price | None) -> tuple[ModelRequest, float]:
        """The request with the reply it can pay for, and what that costs at most."""
        if self._money_usd is None:
            return request, 0.0
        if price is None:  # somebody else's engine, which says what it costs afterwards
            if self.usage.cost_usd >= self._money_usd:
                raise self._money_spent_error()
            return request, 0.0
        prompt = prompt_tokens_about(request.messages, request.tools)
        wanted = request.sampling.max_tokens
        while True:
            left_usd = self._money_usd - self.usage.cost_usd - self._reserved_usd
            tokens = min(wanted, price.affordable_tokens(left_usd, prompt))
            if tokens >= min(wanted, _MIN_TOKENS):
                break
            if self._reserved_usd <= 0.0:
                raise self._money_spent_error()
            self._reservation_freed_event.clear()
            await self._reservation_freed_event.wait()
        sampling = request.sampling.model_copy(update={"max_tokens": tokens})
        reserved_usd = price.cost_usd(Usage(prompt_tokens=prompt, completion_tokens=tokens))
        return replace(request, sampling=sampling), reserved_usd

    def _money_spent_error(self) -> MoneySpent:
        self.refused += 1
        return MoneySpent("the money limit of this request is used up")
