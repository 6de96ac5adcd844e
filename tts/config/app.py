"""The whole tree, and what its parts demand of each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from tts.config.deployments import DeploymentsConfig
from tts.config.engines import CluesEngine, Engine, OpenAIEngine, VllmEngine
from tts.config.gateway import GatewayConfig
from tts.config.routing import RoutingConfig
from tts.config.telemetry import TelemetryConfig
from tts.config.tools import ToolsConfig
from tts.config.verifier import VerifierConfig
from tts.dialects.settings import DialectSettings
from tts.domain.plan import Limits
from tts.domain.value import Value
from tts.net.url_secrets import password_in

CONFIG_VERSION = 1
_VARIABLES = {
    "gateway.run_store": "give it in GEOTTS_REDIS_PASSWORD",
    "tools.cache": "give it in GEOTTS_REDIS_PASSWORD, or in GEOTTS_TOOLS_REDIS_PASSWORD if it is another one",
}


class AppArgs(Value):
    """The whole application. What is wrong with it is told without what was given: that may hold a secret."""

    model_config = ConfigDict(hide_input_in_errors=True)

    config_version: Literal[1] = 1
    engine: Engine = CluesEngine()
    observer: Engine | None = Field(
        default=None, description="sees the photos for an engine without eyes: two models in one rollout"
    )
    dialect: str = "generic"
    dialect_settings: DialectSettings = Field(
        default=DialectSettings(), description="what differs from the dialect's own; for `dialect` only"
    )
    limits: Limits = Limits()
    routing: RoutingConfig = RoutingConfig()
    tools: ToolsConfig = ToolsConfig()
    verifier: VerifierConfig = VerifierConfig()
    gateway: GatewayConfig = GatewayConfig()
    deployments: DeploymentsConfig = DeploymentsConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    group_size: Annotated[int, Field(ge=1, le=32)] | None = Field(
        default=None, description="rollouts in one Serve call; ceil(N / replicas) for clues, all of them else"
    )
    placement: Literal["load", "photo_hash"] = Field(
        default="load", description="photo_hash: queries about one photo meet on one replica, while it has room"
    )
    colocate: bool | None = Field(
        default=None,
        description="rollouts and verifier in the gateway's process (ADR 0012); by default with an openai engine, "
        "while deployments.rollout and deployments.verifier are as they come",
    )
    coalesce_s: Annotated[float, Field(ge=0, le=1)] = 0.025
    data_dir: str | None = Field(default=None, description="built data; a per-user cache directory when absent")

    @model_validator(mode="after")
    def _possible(self) -> AppArgs:
        gateway = self.deployments.gateway
        gateways = gateway.autoscale.max_replicas if gateway.autoscale else gateway.replicas
        store = self.gateway.run_store
        if gateways > 1 and not store.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError(
                f"{gateways} gateway replicas cannot share a run store in {store.partition(':')[0]}: "
                "set gateway.run_store to redis://…, or one replica"
            )
        if self.gateway.access.mode == "off" and not self.gateway.on_loopback:
            raise ValueError(
                f"gateway.host {self.gateway.host} can be reached from other machines: set gateway.access.mode to keys"
            )
        return self

    @model_validator(mode="after")
    def _light_enough_to_colocate(self) -> AppArgs:
        if self.colocate and self._heavy_engine is not None:
            raise ValueError(
                f"colocate: engine {self._heavy_engine} computes where it is used: it would stall the gateway"
            )
        if self.colocate and self._changed_workers:
            raise ValueError(
                f"colocate: there is no deployment {self._changed_workers[0]} then; set deployments.gateway"
            )
        return self

    @property
    def colocated(self) -> bool:
        """Whether rollouts and verifier run in the gateway's process."""
        if self.colocate is None:
            return isinstance(self.engine, OpenAIEngine) and self._heavy_engine is None and not self._changed_workers
        return self.colocate

    @property
    def _changed_workers(self) -> list[str]:
        usual = DeploymentsConfig()
        return [name for name in ("rollout", "verifier") if getattr(self.deployments, name) != getattr(usual, name)]

    @property
    def _heavy_engine(self) -> str | None:
        """An engine that computes where it is used."""
        engines = (self.engine, self.observer, self.verifier.engine)
        return next((engine.name for engine in engines if isinstance(engine, CluesEngine | VllmEngine)), None)

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
