"""Where the five deployments run, and how many of each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tts.domain.value import Value


class AutoscaleConfig(Value):
    """Bounds and speed of one deployment's autoscaling. The Rollout deployment counts generations, others requests."""

    min_replicas: Annotated[int, Field(ge=0)] = 1
    max_replicas: Annotated[int, Field(ge=1)] = 4
    target_ongoing: Annotated[float, Field(gt=0)] = 4.0
    upscale_delay_s: Annotated[float, Field(ge=0)] = 2.0
    downscale_delay_s: Annotated[float, Field(ge=0)] = 60.0
    metrics_interval_s: Annotated[float, Field(gt=0)] = 1.0
    look_back_s: Annotated[float, Field(gt=0)] = 5.0

    @model_validator(mode="after")
    def _ordered(self) -> AutoscaleConfig:
        if self.min_replicas > self.max_replicas:
            raise ValueError("min_replicas is above max_replicas: raise max_replicas, or lower min_replicas")
        return self


class DeploymentConfig(Value):
    """How one deployment is placed and scaled. `autoscale` wins over `replicas`."""

    replicas: Annotated[int, Field(ge=1)] = 1
    autoscale: AutoscaleConfig | None = None
    num_cpus: Annotated[float, Field(ge=0)] = 0.0
    num_gpus: Annotated[float, Field(ge=0)] = 0.0
    max_ongoing: Annotated[int, Field(ge=1)] = 64
    max_queued: Annotated[int, Field(ge=1)] = 256
    drain_s: Annotated[float, Field(ge=0)] = Field(
        default=20.0, description="how long a replica may finish its streams"
    )
    bundles: tuple[dict[str, Annotated[float, Field(ge=0)]], ...] = Field(
        default=(),
        description="placement group of one replica, for a model on several GPUs; the first holds the replica",
    )
    bundle_strategy: Literal["PACK", "STRICT_PACK", "SPREAD", "STRICT_SPREAD"] = "STRICT_PACK"

    @property
    def claimed_gpus(self) -> float:
        """GPUs that Ray keeps for one replica: those of its bundles where it has any. A share of one is below 1."""
        return sum(bundle.get("GPU", 0.0) for bundle in self.bundles) if self.bundles else self.num_gpus


class DeploymentsConfig(Value):
    """Placement and scale of each of the five deployments."""

    gateway: DeploymentConfig = DeploymentConfig(max_ongoing=512, max_queued=512)
    locatability: DeploymentConfig = DeploymentConfig()
    rollout: DeploymentConfig = DeploymentConfig(replicas=2)
    tools: DeploymentConfig = DeploymentConfig(max_ongoing=256, max_queued=2048)
    verifier: DeploymentConfig = DeploymentConfig()
