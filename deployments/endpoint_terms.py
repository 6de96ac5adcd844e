"""On what terms an endpoint is asked: whether there is a key to send, and whether the price of its model is known."""

from __future__ import annotations

import os
from collections.abc import Iterator

from deployments.findings import Finding
from deployments.parts import price_of
from tts.config import AppArgs, OpenAIEngine
from tts.routing.plan import NO_PRICE


def terms_findings(args: AppArgs) -> Iterator[Finding]:
    """Of the engine's endpoint: its key, and its price where money is limited. Nothing for other engines."""
    engine = args.engine
    if not isinstance(engine, OpenAIEngine):
        return
    variable = engine.api_key_env
    if os.environ.get(variable):
        yield Finding("key of the endpoint", "ok", f"${variable} is set")
    else:
        cost = "an endpoint that wants a key refuses every request; one that wants none does not mind"
        yield Finding("key of the endpoint", "off", f"${variable} is not set", cost, f"set {variable}, if it wants one")
    if args.limits.max_cost_usd is None:
        return
    if (price := price_of(engine)) is not None:
        detail = f"${price.input:g} a million tokens read, ${price.output:g} written"
        yield Finding("price of the model", "ok", detail)
    else:
        detail = f"none is known for {engine.model or 'a model without a name'}"
        cost = f"the limit of ${args.limits.max_cost_usd:g} a request cannot be kept"
        yield Finding("price of the model", "missing", detail, cost, "set engine.price")


def money_line(args: AppArgs) -> str:
    """The limit on what a request may cost, or that it cannot be kept; empty without a limit."""
    limit = args.limits.max_cost_usd
    if limit is None:
        return ""
    return (
        f"at most ${limit:g} a request"
        if price_is_known(args)
        else f"a request should cost at most ${limit:g}; {NO_PRICE}"
    )


def price_is_known(args: AppArgs) -> bool:
    """Whether what the engine uses can be counted in money; an engine of this process costs none."""
    return not isinstance(args.engine, OpenAIEngine) or price_of(args.engine) is not None
