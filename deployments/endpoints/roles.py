"""What each configured engine and endpoint is for, what fails without it, and which settings name it.

`geotts doctor`, `geotts serve` and the log of the gateway take the words from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deployments.config import AppArgs
from tts.config import Engine, OpenAIEngine
from tts.config.setting_names import OF_CONSISTENCY, OF_ENGINE, OF_MEMBER, OF_OBSERVER, OF_VERIFIER, SettingNames

_ALL_ROLLOUTS_FAIL = "every rollout fails"
_OTHERS_TAKE_OVER = "the other models do its rollouts"


@dataclass(frozen=True, slots=True)
class EngineUse:
    """An engine with its role. `cost`: what does not work without it. `names`: the settings that name it."""

    role: str
    engine: Engine
    cost: str
    names: SettingNames

    @property
    def address(self) -> str:
        """The setting with its address."""
        return self.names.shortest("base_url")

    @property
    def model(self) -> str:
        """The setting with its model."""
        return self.names.shortest("model")


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


def engine_uses(args: AppArgs) -> Iterator[EngineUse]:
    """The engines that a configuration names."""
    for member in args.engines:
        yield EngineUse(f"engine {member.name}", member.engine, _OTHERS_TAKE_OVER, OF_MEMBER)
    if not args.engines:
        yield EngineUse("engine", args.engine, _ALL_ROLLOUTS_FAIL, OF_ENGINE)
    if args.observer is not None:
        yield EngineUse("observer", args.observer, _ALL_ROLLOUTS_FAIL, OF_OBSERVER)
    verifier = args.verifier
    if verifier.kind == "model" and verifier.engine is not None:
        yield EngineUse("verifier engine", verifier.engine, "the consensus decides alone", OF_VERIFIER)
    if verifier.consistency is not None and verifier.consistency.engine is not None:
        cost = "confidence is not checked against the reasoning"
        yield EngineUse("consistency engine", verifier.consistency.engine, cost, OF_CONSISTENCY)


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
