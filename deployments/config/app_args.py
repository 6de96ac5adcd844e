"""The root of the service's configuration, and the checks that involve its deployments."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from deployments.config.cases import CasesConfig
from deployments.config.deployments import DeploymentsConfig
from deployments.config.gateway import GatewayConfig
from deployments.config.loopback import is_loopback
from tts.config import CluesEngine, OpenAIEngine, PipelineConfig, TelemetryConfig, VllmEngine

MOST_GPU_MEMORY = 0.95  # of a GPU; the rest is for the driver and for what is not planned


class AppArgs(PipelineConfig):
    """The configuration of the application: what answers a photo, and the service around it."""

    variables_of_passwords: ClassVar[dict[str, str]] = {
        **PipelineConfig.variables_of_passwords,
        "gateway.run_store": "give it in GEOTTS_REDIS_PASSWORD",
    }

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

    @model_validator(mode="after")
    def _check_gateways(self) -> Self:
        gateways = self.deployments.gateway.most_replicas
        store = self.gateway.run_store
        if gateways > 1 and not store.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError(
                f"{gateways} gateway replicas cannot share a run store in {store.partition(':')[0]}: "
                "set gateway.run_store to redis://…, or use one replica"
            )
        if self.gateway.access.mode == "off" and not is_loopback(self.gateway.host):
            raise ValueError(
                f"gateway.host {self.gateway.host} can be reached from other machines: set gateway.access.mode to keys"
            )
        return self

    @model_validator(mode="after")
    def _check_public_url(self) -> Self:
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
    def _check_colocation(self) -> Self:
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
    def _check_shared_cache(self) -> Self:
        several = self.deployments.tools.most_replicas > 1
        if several and self.tools.needs_network and self.tools.cache.startswith("memory"):
            raise ValueError(
                "several Tools replicas need a shared tools.cache: sqlite:///path on one node, or redis://"
            )
        return self

    @property
    def _changed_workers(self) -> list[str]:
        usual = DeploymentsConfig()
        return [name for name in ("rollout", "verifier") if getattr(self.deployments, name) != getattr(usual, name)]

    @property
    def _heavy_engine(self) -> str | None:
        """An engine that computes where it is used."""
        engines = self.engines_in_one_process.values()
        return next((engine.name for engine in engines if isinstance(engine, CluesEngine | VllmEngine)), None)

    @property
    def gpu_memory_of_engines(self) -> dict[str, float]:
        """Share of a GPU's memory that each engine takes that is loaded, by the key that configures it."""
        engines = self.engines_in_one_process.items()
        return {key: engine.gpu_memory for key, engine in engines if isinstance(engine, VllmEngine)}

    @model_validator(mode="after")
    def _check_gpu_memory(self) -> Self:
        """Engines of one replica share its GPUs, and replicas with a fraction of a GPU share that GPU: together, the
        engines take no more of the memory than there is."""
        wanted = self.gpu_memory_of_engines
        of_verifier = {key: share for key, share in wanted.items() if key.startswith("verifier.")}
        of_rollouts = {key: share for key, share in wanted.items() if key not in of_verifier}
        for deployment, found in ((self.deployments.rollout, of_rollouts), (self.deployments.verifier, of_verifier)):
            total = sum(found.values())
            claimed = deployment.claimed_gpus
            if found and 0 < claimed < 1 and total > claimed:
                raise ValueError(
                    f"a replica with {claimed:g} of a GPU may use that share of its memory: the sum of gpu_memory of "
                    f"{' and '.join(found)} is {total:g}, the limit is {claimed:g}"
                )
            if len(found) > 1 and total > MOST_GPU_MEMORY:
                raise ValueError(
                    f"{' and '.join(found)} share the GPUs of a replica: the sum of their gpu_memory is "
                    f"{total:g}, the limit is {MOST_GPU_MEMORY:g}"
                )
        return self
