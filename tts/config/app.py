"""The root of the configuration, and the checks that involve several of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, JsonValue, model_validator

from tts.config.cases import CasesConfig
from tts.config.deployments import DeploymentsConfig
from tts.config.engines import CluesEngine, Engine, OpenAIEngine, VllmEngine
from tts.config.gallery import GalleryConfig
from tts.config.gateway import GatewayConfig
from tts.config.mixture import EngineShare
from tts.config.request_defaults import RequestDefaults
from tts.config.routing import RoutingConfig
from tts.config.telemetry import TelemetryConfig
from tts.config.tools import ToolsConfig
from tts.config.verifier import VerifierConfig
from tts.dialects.settings import DialectSettings
from tts.domain.abilities import Abilities
from tts.domain.plan import Limits
from tts.domain.value import Value
from tts.net.url_secrets import password_in

CONFIG_VERSION = 1
MOST_GPU_MEMORY = 0.95  # of a GPU; the rest is for the driver and for what is not planned
_OBSERVER_WAIT_S = 30.0
_ABILITIES = tuple(Abilities.model_fields)
_VARIABLES = {
    "gateway.run_store": "give it in GEOTTS_REDIS_PASSWORD",
    "tools.cache": "give it in GEOTTS_REDIS_PASSWORD, or in GEOTTS_TOOLS_REDIS_PASSWORD if it is another one",
}


class AppArgs(Value):
    """The configuration of the application. Its error messages never repeat a value, because a value may be a
    secret."""

    model_config = ConfigDict(hide_input_in_errors=True)

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
    gateway: GatewayConfig = Field(
        default=GatewayConfig(), description="HTTP interface, storage of requests, and access"
    )
    cases: CasesConfig = Field(
        default=CasesConfig(), description="cases: requests that are kept together under one name"
    )
    deployments: DeploymentsConfig = Field(
        default=DeploymentsConfig(), description="placement and scale of each Ray Serve deployment"
    )
    telemetry: TelemetryConfig = Field(default=TelemetryConfig(), description="traces and logs")
    group_size: Annotated[int, Field(ge=1, le=32)] | None = Field(
        default=None,
        description="most rollouts of one request in one call to a Rollout replica. Default: as many as the engine of "
        "a replica has room for (ADR 0048); for engine clues, N / replicas, rounded up",
    )
    placement: Literal["load", "photo_hash"] = Field(
        default="load",
        description="the replica that a group of rollouts goes to. load: one with room; photo_hash: for one photo "
        "always the same few replicas, while they have room",
    )
    colocate: bool | None = Field(
        default=None,
        description="whether rollouts and verifier run in the process of the gateway (ADR 0012). Default: true if all "
        "engines of rollouts are endpoints (openai), observer and verifier are neither clues nor vllm, and "
        "deployments.rollout and deployments.verifier are not changed",
    )
    coalesce_s: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.025,
        description="seconds for which text of rollouts and verifier is collected before it is sent as one batch",
    )
    data_dir: str | None = Field(
        default=None, description="folder of the built data. Default: a cache folder of the user"
    )

    @model_validator(mode="after")
    def _possible(self) -> AppArgs:
        gateway = self.deployments.gateway
        gateways = gateway.autoscale.max_replicas if gateway.autoscale else gateway.replicas
        store = self.gateway.run_store
        if gateways > 1 and not store.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError(
                f"{gateways} gateway replicas cannot share a run store in {store.partition(':')[0]}: "
                "set gateway.run_store to redis://…, or use one replica"
            )
        if self.gateway.access.mode == "off" and not self.gateway.on_loopback:
            raise ValueError(
                f"gateway.host {self.gateway.host} can be reached from other machines: set gateway.access.mode to keys"
            )
        return self

    @model_validator(mode="after")
    def _pictures_can_be_fetched(self) -> AppArgs:
        url = self.gateway.public_url
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("gateway.public_url is not an http(s) URL, such as https://geotts.example.org")
        if self.tools.serves_regions and url is None:
            raise ValueError(
                f"tools.region_search: a URL of each picture is given to {' and '.join(self.tools.providers_by_url)}. "
                "Set gateway.public_url, or "
                "set tools.region_search.upload to a picture store"
            )
        return self

    @model_validator(mode="after")
    def _light_enough_to_colocate(self) -> AppArgs:
        if self.colocate and self._heavy_engine is not None:
            raise ValueError(
                f"colocate: the engine {self._heavy_engine} would compute in the gateway's process and block it: "
                "leave colocate out"
            )
        if self.colocate and self._changed_workers:
            raise ValueError(
                f"with colocate, deployments.{self._changed_workers[0]} has no effect: set deployments.gateway instead"
            )
        return self

    @property
    def colocated(self) -> bool:
        """Whether rollouts and verifier run in the gateway's process."""
        if self.colocate is None:
            remote = all(isinstance(engine, OpenAIEngine) for engine in self.rollout_engines)
            return remote and self._heavy_engine is None and not self._changed_workers
        return self.colocate

    @model_validator(mode="after")
    def _leads_with_eyes(self) -> AppArgs:
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
        """The engines that are loaded if rollouts and verifier run in one process, by the key that configures each."""
        found = {
            **{f"engines.{i}.engine": member.engine for i, member in enumerate(self.engines)},
            "engine": None if self.engines else self.engine,
            "observer": self.observer,
            "verifier.engine": None if self.verifier.kind == "consensus" else self.verifier.engine,
            "verifier.consistency.engine": self._second_reader,
        }
        return {key: engine for key, engine in found.items() if engine is not None}

    @property
    def _second_reader(self) -> Engine | None:
        """The engine of the second reader, where it has one of its own."""
        reader = self.verifier.consistency
        return None if reader is None else reader.engine

    @property
    def _changed_workers(self) -> list[str]:
        usual = DeploymentsConfig()
        return [name for name in ("rollout", "verifier") if getattr(self.deployments, name) != getattr(usual, name)]

    @property
    def _heavy_engine(self) -> str | None:
        """An engine that computes where it is used."""
        engines = (*self.rollout_engines, self.observer, self.verifier.engine, self._second_reader)
        return next((engine.name for engine in engines if isinstance(engine, CluesEngine | VllmEngine)), None)

    @model_validator(mode="after")
    def _shares_gpu_memory(self) -> AppArgs:
        """Engines of one replica share its GPUs, and replicas with a fraction of a GPU share that GPU: together, the
        engines take no more of the memory than there is."""
        beside = {
            ("engine", "observer"): (self.deployments.rollout, (self.engine, self.observer)),
            ("verifier.engine", "verifier.consistency.engine"): (
                self.deployments.verifier,
                (self.verifier.engine, self._second_reader),
            ),
        }
        for names, (deployment, pair) in beside.items():
            found = {
                name: engine.gpu_memory
                for name, engine in zip(names, pair, strict=True)
                if isinstance(engine, VllmEngine)
            }
            total = sum(found.values())
            claimed = deployment.claimed_gpus
            if found and 0 < claimed < 1 and total > claimed:
                raise ValueError(
                    f"a replica with {claimed:g} of a GPU may use that share of its memory: the sum of gpu_memory of "
                    f"{' and '.join(found)} is {total:g}, the limit is {claimed:g}"
                )
            if len(found) > 1 and total > MOST_GPU_MEMORY:
                raise ValueError(
                    f"{' and '.join(names)} share the GPUs of a replica: the sum of their gpu_memory is "
                    f"{total:g}, the limit is {MOST_GPU_MEMORY:g}"
                )
        return self

    @model_validator(mode="after")
    def _no_passwords(self) -> AppArgs:
        for name, text in _strings(self.model_dump(mode="json")):
            if password_in(text):
                variable = _VARIABLES.get(name)
                raise ValueError(f"{name} holds a password: {variable or 'secrets come from the environment only'}")
        return self

    @model_validator(mode="after")
    def _shared_where_it_must_be(self) -> AppArgs:
        tools = self.deployments.tools
        several = tools.replicas > 1 or (tools.autoscale is not None and tools.autoscale.max_replicas > 1)
        if several and self.tools.needs_network and self.tools.cache.startswith("memory"):
            raise ValueError(
                "several Tools replicas need a shared tools.cache: sqlite:///path on one node, or redis://"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _first_of_the_engines(cls, data: Any) -> Any:
        """The first engine is used where only one engine is needed: by a verifier or a router that asks a model."""
        if not isinstance(data, dict) or not data.get("engines"):
            return data
        first = data["engines"][0]
        own = first.engine if isinstance(first, EngineShare) else first.get("engine")
        dialect = first.dialect if isinstance(first, EngineShare) else first.get("dialect")
        return {**({"dialect": dialect} if dialect else {}), **data, "engine": data.get("engine", own)}

    @model_validator(mode="after")
    def _engines_together(self) -> AppArgs:
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
    def _known_version(cls, data: Any) -> Any:
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
