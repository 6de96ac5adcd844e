"""The configuration of what answers a photo, and the checks that involve several of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from tts.config.engines import CluesEngine, Engine, OpenAIEngine, VllmEngine
from tts.config.gallery import GalleryConfig
from tts.config.mixture import EngineShare
from tts.config.request_defaults import RequestDefaults
from tts.config.routing import RoutingConfig
from tts.config.tools import ToolsConfig
from tts.config.verifier import VerifierConfig
from tts.dialects.settings import DialectSettings
from tts.domain.abilities import Abilities
from tts.domain.kind_of_n import KindOfN, kind_of_n
from tts.domain.plan import Limits
from tts.domain.value import Value
from tts.net.url_secrets import password_in

CONFIG_VERSION = 1
_OBSERVER_WAIT_S = 30.0
_ABILITIES = tuple(Abilities.model_fields)


class PipelineConfig(Value):
    """What decides the answer to a photo: engines, dialect, tools, routing, verifier. Its error messages never repeat a
    value, because a value may be a secret."""

    model_config = ConfigDict(hide_input_in_errors=True)
    variables_of_passwords: ClassVar[dict[str, str]] = {
        "tools.cache": "give it in GEOTTS_REDIS_PASSWORD, or in GEOTTS_TOOLS_REDIS_PASSWORD if it is another one"
    }

    config_version: Literal[1] = Field(default=1, description="version of the format of this configuration")
    engine: Engine = Field(default=CluesEngine(), description="engine of the rollouts")
    engines: tuple[EngineShare, ...] = Field(
        default=(),
        description="models that share the rollouts of every request, two or more; they take the place of `engine`",
    )
    observer: Engine | None = Field(
        default=None, description="engine that sees the photos and describes them to an `engine` that cannot see"
    )
    dialect: str = Field(
        default="generic", description="dialect of `engine`: its prompts, and the form of its tool calls and answers"
    )
    dialect_settings: DialectSettings = Field(
        default=DialectSettings(), description="settings that replace those of `dialect`; other dialects keep their own"
    )
    gallery: GalleryConfig | None = Field(
        default=None,
        description="photos of known position that you supply; dialect geo_adapt tells the model the positions of the "
        "most similar ones",
    )
    limits: Limits = Field(
        default=Limits(),
        description="limits of one rollout; max_cost_usd is for all rollouts of a request together. Default: the "
        "limits of the dialect",
    )
    request_defaults: RequestDefaults = Field(
        default=RequestDefaults(), description="values for fields that a request leaves out"
    )
    routing: RoutingConfig = Field(
        default=RoutingConfig(), description="how much is spent on a photo, and when rollouts stop"
    )
    tools: ToolsConfig = Field(
        default=ToolsConfig(), description="tools of the rollouts, and the providers behind them"
    )
    verifier: VerifierConfig = Field(
        default=VerifierConfig(), description="how an answer is made from the hypotheses of the rollouts"
    )
    data_dir: str | None = Field(
        default=None, description="folder of the built data. Default: a cache folder of the user"
    )

    @model_validator(mode="after")
    def _check_leader_vision(self) -> Self:
        if self.routing.method == "leader" and not self.abilities.sees_pictures:
            raise ValueError(
                f"routing.method leader needs an engine that sees pictures; {self.engine.name} does not. Set it to cues"
            )
        return self

    @property
    def routing_method(self) -> str:
        """How photos are rated; by default what suits the engine."""
        return self.routing.method or ("leader" if self.abilities.sees_pictures else "cues")

    @property
    def divides_first_calls(self) -> bool:
        """Whether the rollouts divide what to ask first themselves, so that no leader has to name it."""
        return all(isinstance(engine, CluesEngine) for engine in self.rollout_engines)

    @property
    def diverse_first_calls(self) -> bool:
        """Whether rollouts begin with different tool calls; by default if they divide them themselves."""
        asked = self.routing.diverse_first_calls
        return self.divides_first_calls if asked is None else asked

    @property
    def prefix_wait_s(self) -> float | None:
        """How long rollouts wait for the first token of the first, in seconds; None: not at all. With an observer they
        do, so that it describes a photo once for all of them, in whatever replica they run."""
        own = self.engine.prefix_wait_s
        return own if self.observer is None else max(own or 0.0, _OBSERVER_WAIT_S)

    @property
    def abilities(self) -> Abilities:
        """What rollouts can do: with an observer beside an engine without eyes they see, too; of several engines what
        all can."""
        own = self.engine.abilities
        for member in self.engines:
            other = member.engine.abilities
            own = own.model_copy(update={name: getattr(own, name) and getattr(other, name) for name in _ABILITIES})
        seen = self.observer is not None and self.observer.abilities.sees_pictures
        return own.model_copy(update={"sees_pictures": own.sees_pictures or seen})

    @property
    def rollout_engines(self) -> tuple[Engine, ...]:
        """The engines of rollouts: one, or those that share them."""
        return tuple(member.engine for member in self.engines) or (self.engine,)

    @property
    def models(self) -> int:
        """How many models share the rollouts of a request."""
        return len(self.rollout_engines)

    @property
    def kind_of_n(self) -> KindOfN:
        """What several rollouts of a request are to each other."""
        return kind_of_n(2, self.models)

    @property
    def verifier_borrows_engine(self) -> bool:
        """Whether the verifier generates with the engine of the rollouts: it has none of its own for its model, or none
        for its consistency agent where a second engine would take a second set of GPUs.
        """
        verifier = self.verifier
        agent = verifier.consistency
        alone = agent is not None and agent.engine is None and isinstance(self.engine, VllmEngine)
        return alone or (verifier.kind == "model" and verifier.engine is None)

    @property
    def engines_in_one_process(self) -> dict[str, Engine]:
        """The engines that are loaded if rollouts and verifier run in one process, by the key that configures each.

        The consensus loads no `verifier.engine`; a verifier of another package may, as it gets the configuration.
        """
        found = {
            **{f"engines.{i}.engine": member.engine for i, member in enumerate(self.engines)},
            "engine": None if self.engines else self.engine,
            "observer": self.observer,
            "verifier.engine": None if self.verifier.kind == "consensus" else self.verifier.engine,
            "verifier.consistency.engine": self._second_reader,
        }
        return {key: engine for key, engine in found.items() if engine is not None}

    @property
    def may_send(self) -> bool:
        """Whether something of a request may be sent to another machine, be it text only: an engine is at an endpoint,
        or a tool may send."""
        engines = self.engines_in_one_process.values()
        return self.tools.may_send or any(isinstance(engine, OpenAIEngine) for engine in engines)

    @property
    def _second_reader(self) -> Engine | None:
        """The engine of the second reader, where it has one of its own."""
        reader = self.verifier.consistency
        return None if reader is None else reader.engine

    @model_validator(mode="after")
    def _check_for_passwords(self) -> Self:
        for name, text in _strings(self.model_dump(mode="json")):
            if password_in(text):
                variable = self.variables_of_passwords.get(name)
                raise ValueError(f"{name} holds a password: {variable or 'secrets come from the environment only'}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _use_first_engine(cls, data: Any) -> Any:
        """The first engine is used where only one engine is needed: by a verifier or a router that asks a model."""
        if not isinstance(data, dict) or not data.get("engines"):
            return data
        first = data["engines"][0]
        own = first.engine if isinstance(first, EngineShare) else first.get("engine")
        dialect = first.dialect if isinstance(first, EngineShare) else first.get("dialect")
        return {**({"dialect": dialect} if dialect else {}), **data, "engine": data.get("engine", own)}

    @model_validator(mode="after")
    def _check_engines(self) -> Self:
        members = self.engines
        if not members:
            return self
        names = [member.name for member in members]
        if len(members) < 2 or len(set(names)) < len(names):
            raise ValueError("engines: give two or more, each with its own name")
        if self.engine != members[0].engine:
            raise ValueError("engines replaces engine: leave engine out")
        if self.observer is not None:
            raise ValueError(
                "engines: an observer works with one engine only. Add the model that sees pictures to engines"
            )
        if any(isinstance(member.engine, VllmEngine) for member in members[1:]):
            raise ValueError("engines: only the first engine may be vllm in this process")
        return self

    @model_validator(mode="before")
    @classmethod
    def _check_version(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("config_version", CONFIG_VERSION) != CONFIG_VERSION:
            raise ValueError(
                f"config_version is {data['config_version']!r}, this release reads {CONFIG_VERSION}: see CHANGELOG.md"
            )
        return data


def _strings(node: JsonValue, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text of the tree with the dotted name of its place."""
    if isinstance(node, str):
        yield name, node
    elif isinstance(node, dict):
        for key, below in node.items():
            yield from _strings(below, f"{name}.{key}" if name else key)
    elif isinstance(node, list):
        for below in node:
            yield from _strings(below, name)
