"""What each configured engine and endpoint is for, what fails without it, and which settings name it.

`geotts doctor`, `geotts serve` and the log of the gateway take the words from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deployments.config import AppArgs
from tts.config import Engine, OpenAIEngine

_EVERYTHING = "every rollout fails"
_OWN_ROLLOUTS = "the other models do its rollouts"


@dataclass(frozen=True, slots=True)
class EngineUse:
    """An engine with its role. `cost`: what does not work without it. `address`, `model`: the settings that name it."""

    role: str
    engine: Engine
    cost: str
    address: str
    model: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address of an engine. `engine` has this address only, `addresses` are all of the same engine.

    `role` is that of the engine, with a number from the second address on: `engine`, `engine 2` …
    """

    role: str
    engine: OpenAIEngine
    addresses: tuple[str, ...]
    use: EngineUse

    @property
    def url(self) -> str:
        """Its address up to and including /v1, keys in it included."""
        return self.engine.base_url

    @property
    def cost(self) -> str:
        """What does not work while it does not answer."""
        if len(self.addresses) == 1:
            return self.use.cost
        return f"the other endpoints do its work, and if none of them answers, {self.use.cost}"


def engine_uses(args: AppArgs) -> tuple[EngineUse, ...]:
    """The engines that a configuration names."""
    return tuple(_engine_uses(args))


def _engine_uses(args: AppArgs) -> Iterator[EngineUse]:
    for member in args.engines:
        yield EngineUse(
            f"engine {member.name}", member.engine, _OWN_ROLLOUTS, "its base_url in engines", "its model in engines"
        )
    if not args.engines:
        yield EngineUse("engine", args.engine, _EVERYTHING, "--endpoint", "--model")
    if args.observer is not None:
        yield EngineUse("observer", args.observer, _EVERYTHING, "observer.base_url", "observer.model")
    verifier = args.verifier
    if verifier.kind == "model" and verifier.engine is not None:
        cost, path = "the consensus decides alone", "verifier.engine"
        yield EngineUse("verifier engine", verifier.engine, cost, f"{path}.base_url", f"{path}.model")
    if verifier.consistency is not None and verifier.consistency.engine is not None:
        cost, path = "confidence is not checked against the reasoning", "verifier.consistency.engine"
        yield EngineUse("consistency engine", verifier.consistency.engine, cost, f"{path}.base_url", f"{path}.model")


def endpoints_of(args: AppArgs) -> tuple[Endpoint, ...]:
    """The addresses of the engines that are behind one."""
    return tuple(
        Endpoint(
            role=use.role if number == 1 else f"{use.role} {number}",
            engine=use.engine.model_copy(update={"base_url": address, "base_urls": ()}),
            addresses=use.engine.addresses,
            use=use,
        )
        for use in engine_uses(args)
        if isinstance(use.engine, OpenAIEngine)
        for number, address in enumerate(use.engine.addresses, 1)
    )
