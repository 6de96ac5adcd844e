"""Where the five deployments run, and how many of each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tts.domain.value import Value


class AutoscaleConfig(Value):
    """Bounds and speed of one deployment's autoscaling. The Rollout deployment counts generations, others requests."""

    min_replicas: Annotated[int, Field(ge=0)] = Field(
        default=1, description="fewest replicas; 0: none while there is no load"
    )
    max_replicas: Annotated[int, Field(ge=1)] = Field(default=4, description="most replicas")
    target_ongoing: Annotated[float, Field(gt=0)] = Field(
        default=4.0,
        description="wanted load of one replica: generations for the Rollout deployment, requests for the others",
    )
    upscale_delay_s: Annotated[float, Field(ge=0)] = Field(
        default=2.0, description="seconds for which the load must stay too high before replicas are added"
    )
    downscale_delay_s: Annotated[float, Field(ge=0)] = Field(
        default=60.0, description="seconds for which the load must stay low before replicas are removed"
    )
    metrics_interval_s: Annotated[float, Field(gt=0)] = Field(
        default=1.0, description="seconds between two measurements of the load"
    )
    look_back_s: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="seconds over which the measured load is averaged"
    )

    @model_validator(mode="after")
    def _check_order(self) -> AutoscaleConfig:
        if self.min_replicas > self.max_replicas:
            raise ValueError("min_replicas is above max_replicas: raise max_replicas, or lower min_replicas")
        return self


class DeploymentConfig(Value):
    """How one deployment is placed and scaled. `autoscale` wins over `replicas`."""

    replicas: Annotated[int, Field(ge=1)] = Field(
        default=1, description="number of replicas; not used if `autoscale` is set"
    )
    autoscale: AutoscaleConfig | None = Field(
        default=None, description="bounds and speed of autoscaling. Default: a fixed number of replicas"
    )
    num_cpus: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="CPUs that Ray reserves for one replica; may be a fraction"
    )
    num_gpus: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="GPUs that Ray reserves for one replica; may be a fraction"
    )
    resources: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict,
        description="what else one replica needs of its node, by the cluster's names: `accelerator_type:H100: 0.001` "
        "for a kind of GPU, `node:10.0.0.7: 0.001` for one node",
    )
    max_ongoing: Annotated[int, Field(ge=1)] = Field(
        default=64, description="calls that one replica works on at the same time"
    )
    max_queued: Annotated[int, Field(ge=1)] = Field(
        default=256, description="calls that may wait for a replica in each calling process; further calls are refused"
    )
    drain_s: Annotated[float, Field(ge=0)] = Field(
        default=20.0, description="seconds in which a replica that is stopped may finish its running calls"
    )
    bundles: tuple[dict[str, Annotated[float, Field(ge=0)]], ...] = Field(
        default=(),
        description="placement group of one replica, for a model on several GPUs: the resources of each bundle. The "
        "replica itself runs in the first bundle",
    )
    bundle_strategy: Literal["PACK", "STRICT_PACK", "SPREAD", "STRICT_SPREAD"] = Field(
        default="STRICT_PACK",
        description="placement of the bundles. PACK: on as few machines as possible; STRICT_PACK: on one machine; "
        "SPREAD: on as many machines as possible; STRICT_SPREAD: each on a different machine",
    )

    @property
    def most_replicas(self) -> int:
        """The replicas that there may be at the same time."""
        return self.autoscale.max_replicas if self.autoscale else self.replicas

    @property
    def claimed_gpus(self) -> float:
        """GPUs that Ray keeps for one replica: those of its bundles where it has any. A share of one is below 1."""
        return sum(bundle.get("GPU", 0.0) for bundle in self.bundles) if self.bundles else self.num_gpus


class DeploymentsConfig(Value):
    """Placement and scale of each of the five deployments."""

    gateway: DeploymentConfig = Field(
        default=DeploymentConfig(max_ongoing=512, max_queued=512),
        description="the HTTP interface; it also runs the rollouts and the verifier if `colocate` is true",
    )
    locatability: DeploymentConfig = Field(
        default=DeploymentConfig(), description="the score that says how easily a photo can be located"
    )
    rollout: DeploymentConfig = Field(
        default=DeploymentConfig(replicas=2), description="the rollouts, with their engine"
    )
    tools: DeploymentConfig = Field(
        default=DeploymentConfig(max_ongoing=256, max_queued=2048),
        description="the tools, with the connections to their providers",
    )
    verifier: DeploymentConfig = Field(default=DeploymentConfig(), description="the verifier")
