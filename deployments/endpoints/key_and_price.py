"""Checks whether there is a key for an endpoint, and whether the price of its model is known."""

from __future__ import annotations

import os
from collections.abc import Iterator

from deployments.config import AppArgs
from deployments.doctor_finding import Finding
from deployments.wiring.parts import price_of
from tts.config import OpenAIEngine
from tts.routing.depth_router import NO_PRICE


def terms_findings(args: AppArgs) -> Iterator[Finding]:
    """Of the engine's endpoint: its key, and its price and the observer's where money is limited.

    Nothing for other engines.
    """
    engine = args.engine
    if not isinstance(engine, OpenAIEngine):
        return
    variable = engine.api_key_env
    if os.environ.get(variable):
        yield Finding("key of the endpoint", "ok", f"${variable} is set")
    else:
        cost = "an endpoint that wants a key refuses every request; one that wants none does not mind"
        yield Finding("key of the endpoint", "off", f"${variable} is not set", cost, f"set {variable}, if it wants one")
    if (most := args.limits.max_cost_usd) is not None:
        yield _price_finding("price of the model", "engine.price", engine, most)
        if isinstance(args.observer, OpenAIEngine):
            yield _price_finding("price of the observer", "observer.price", args.observer, most)


def _price_finding(name: str, setting: str, engine: OpenAIEngine, most_usd: float) -> Finding:
    if (price := price_of(engine)) is not None:
        return Finding(name, "ok", f"${price.input:g} a million tokens read, ${price.output:g} written")
    detail = f"none is known for {engine.model or 'a model without a name'}"
    return Finding(name, "missing", detail, f"the limit of ${most_usd:g} a request cannot be kept", f"set {setting}")


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
    """Whether what rollouts use can be counted in money; an engine of this process costs none."""
    asked = (args.engine, args.observer)
    return all(price_of(engine) is not None for engine in asked if isinstance(engine, OpenAIEngine))
