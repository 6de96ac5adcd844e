"""The configuration of the service. Structure comes from YAML, secrets come from the environment; there is no other
source.

Every node is frozen and refuses unknown keys; there is one file for each part of the service. What answers a photo is
configured by `tts.config`. `AppArgs` is what `deployments.app.build` takes: Ray Serve validates the `args:` of a config
file into it, `geotts config show` prints it.
"""

from __future__ import annotations

from deployments.config.app_args import AppArgs
from deployments.config.connections import ConnectionLimits
from deployments.config.deployments import AutoscaleConfig, DeploymentConfig, DeploymentsConfig
from deployments.config.gateway import AccessConfig, GatewayConfig
from deployments.config.loading import load_config, replace_nodes
from deployments.config.webhooks import WebhookConfig

__all__ = [
    "AccessConfig",
    "AppArgs",
    "AutoscaleConfig",
    "ConnectionLimits",
    "DeploymentConfig",
    "DeploymentsConfig",
    "GatewayConfig",
    "WebhookConfig",
    "load_config",
    "replace_nodes",
]
