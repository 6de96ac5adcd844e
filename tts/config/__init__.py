"""The configuration of what answers a photo. Structure comes from YAML, secrets come from the environment; there is no
other source.

Every node is frozen and refuses unknown keys; there is one file for each part. `PipelineConfig` is the root; the
service adds its own keys to it (`deployments.config`).
"""

from __future__ import annotations

from tts.config.engines import CluesEngine as CluesEngine
from tts.config.engines import Engine as Engine
from tts.config.engines import OpenAIEngine as OpenAIEngine
from tts.config.engines import ScriptedEngine as ScriptedEngine
from tts.config.engines import VllmEngine as VllmEngine
from tts.config.gallery import GalleryConfig as GalleryConfig
from tts.config.mcp import McpServerConfig as McpServerConfig
from tts.config.mixture import EngineShare as EngineShare
from tts.config.pipeline import PipelineConfig as PipelineConfig
from tts.config.provider_names import ProviderName as ProviderName
from tts.config.region_search import BlurConfig as BlurConfig
from tts.config.region_search import GatewayUpload as GatewayUpload
from tts.config.region_search import RegionSearchConfig as RegionSearchConfig
from tts.config.region_search import S3Upload as S3Upload
from tts.config.region_search import StoreUpload as StoreUpload
from tts.config.routing import RoutingConfig as RoutingConfig
from tts.config.telemetry import TelemetryConfig as TelemetryConfig
from tts.config.tools import ProviderSettings as ProviderSettings
from tts.config.tools import TapeConfig as TapeConfig
from tts.config.tools import ToolsConfig as ToolsConfig
from tts.config.verifier import ConsistencyConfig as ConsistencyConfig
from tts.config.verifier import VerifierConfig as VerifierConfig
