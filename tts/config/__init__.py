"""The configuration tree. Structure comes from YAML, secrets come from the environment; there is no other source.

Every node is frozen and refuses unknown keys; there is one file for each part of the system. `AppArgs` is what
`deployments.app.build` takes: Ray Serve validates the `args:` of a config file into it, `geotts config show` prints it.
"""

from __future__ import annotations

from tts.config.app import AppArgs
from tts.config.connections import ConnectionLimits
from tts.config.deployments import AutoscaleConfig, DeploymentConfig, DeploymentsConfig
from tts.config.engines import CluesEngine, Engine, OpenAIEngine, ScriptedEngine, VllmEngine
from tts.config.gallery import GalleryConfig
from tts.config.gateway import AccessConfig, GatewayConfig
from tts.config.loading import checked, load_config
from tts.config.mcp import McpServerConfig
from tts.config.mixture import EngineShare
from tts.config.provider_names import ProviderName
from tts.config.region_search import BlurConfig, GatewayUpload, RegionSearchConfig, S3Upload, StoreUpload
from tts.config.routing import RoutingConfig
from tts.config.telemetry import TelemetryConfig
from tts.config.tools import ProviderSettings, TapeConfig, ToolsConfig
from tts.config.verifier import ConsistencyConfig, VerifierConfig
from tts.config.webhooks import WebhookConfig

__all__ = [
    "AccessConfig",
    "AppArgs",
    "AutoscaleConfig",
    "BlurConfig",
    "CluesEngine",
    "ConnectionLimits",
    "ConsistencyConfig",
    "DeploymentConfig",
    "DeploymentsConfig",
    "Engine",
    "EngineShare",
    "GalleryConfig",
    "GatewayConfig",
    "GatewayUpload",
    "McpServerConfig",
    "OpenAIEngine",
    "ProviderName",
    "ProviderSettings",
    "RegionSearchConfig",
    "RoutingConfig",
    "S3Upload",
    "ScriptedEngine",
    "StoreUpload",
    "TapeConfig",
    "TelemetryConfig",
    "ToolsConfig",
    "VerifierConfig",
    "VllmEngine",
    "WebhookConfig",
    "checked",
    "load_config",
]
