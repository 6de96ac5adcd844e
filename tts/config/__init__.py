"""The configuration of what answers a photo. Structure comes from YAML, secrets come from the environment; there is no
other source.

Every node is frozen and refuses unknown keys; there is one file for each part. `PipelineConfig` is the root; the
service adds its own keys to it (`deployments.config`).
"""

from __future__ import annotations

from tts.config.engines import CluesEngine, Engine, OpenAIEngine, ScriptedEngine, VllmEngine
from tts.config.gallery import GalleryConfig
from tts.config.mcp import McpServerConfig
from tts.config.mixture import EngineShare
from tts.config.pipeline import PipelineConfig
from tts.config.provider_names import ProviderName
from tts.config.region_search import BlurConfig, GatewayUpload, RegionSearchConfig, S3Upload, StoreUpload
from tts.config.routing import RoutingConfig
from tts.config.telemetry import TelemetryConfig
from tts.config.tools import ProviderSettings, TapeConfig, ToolsConfig
from tts.config.verifier import ConsistencyConfig, VerifierConfig

__all__ = [
    "BlurConfig",
    "CluesEngine",
    "ConsistencyConfig",
    "Engine",
    "EngineShare",
    "GalleryConfig",
    "GatewayUpload",
    "McpServerConfig",
    "OpenAIEngine",
    "PipelineConfig",
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
]
