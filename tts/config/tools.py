"""The toolbox: providers, cache, tape."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.config.mcp import McpServerConfig
from tts.config.provider_names import ProviderName, fetches_pictures, searches_pictures
from tts.config.region_search import RegionSearchConfig
from tts.config.units import Seconds
from tts.domain.value import Value
from tts.extensions import Registry

_ADDED_TOOLS: Registry[object] = Registry("geotts.tools")


class ProviderSettings(Value):
    """How one provider is reached. Each absent setting has a default for this service."""

    base_url: str | None = Field(default=None, description="your own instance or proxy; it may be a private address")
    urls: dict[Literal["nominatim", "photon", "overpass", "tiles", "satellite_tiles"], str] = Field(
        default={}, description="for osm: servers other than the public ones"
    )
    path: str | None = Field(default=None, description="for tape: a tape file, or a folder in the REVERSE layout")
    matching: Literal["likeness", "reverse"] = Field(
        default="likeness", description="for tape: how a search is found again; reverse: by the rules of its training"
    )
    photos: str | None = Field(
        default=None, description="for tape: a table from photos (sha256 or file) to the image_path of REVERSE's tables"
    )
    key_env: str | None = Field(default=None, description="environment variable with the key, or several with commas")
    per_s: Annotated[float, Field(gt=0)] | None = Field(default=None, description="requests a second, all replicas")
    burst: Annotated[float, Field(ge=1)] | None = None
    max_running: Annotated[int, Field(ge=1)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=120)] | None = None
    retries: Annotated[int, Field(ge=0, le=5)] | None = None


class TapeConfig(Value):
    """Record the results of tools, or replay recorded results."""

    path: str
    mode: Literal["record", "replay"]
    misses: Literal["empty", "live"] = Field(default="empty", description="replay: what is not on the tape")
    iou: Annotated[float, Field(gt=0, le=1)] = Field(default=0.7, description="least overlap of image-search boxes")
    jaccard: Annotated[float, Field(gt=0, le=1)] = Field(default=0.7, description="least likeness of text queries")


class ToolsConfig(Value):
    """Providers in order of preference; each ability is served by the first that has it, China by `amap` if named."""

    providers: tuple[ProviderName, ...] = ("offline",)
    settings: dict[ProviderName, ProviderSettings] = {}
    timeout_s: Seconds = 15.0
    cache: str = Field(
        default="memory:",
        description="memory:, sqlite:///path (one node) or redis://host (cluster); its password: GEOTTS_REDIS_PASSWORD",
    )
    ttl_s: dict[str, Annotated[float, Field(ge=0)]] = Field(default={}, description="by tool; defaults suit each")
    contact: str = Field(default="", description="an address that is sent to public services that ask for one")
    outgoing_log: str | None = Field(
        default=None, description="JSONL file of what left the machine, to whom, when; kept for gateway.retention_s"
    )
    region_search: RegionSearchConfig = RegionSearchConfig()
    mcp: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")], McpServerConfig] = Field(
        default={}, description="MCP servers by name: their tools are offered as NAME__TOOL"
    )
    tape: TapeConfig | None = None

    @property
    def replays(self) -> bool:
        """Whether all results come from the tape. Then no provider is called, and none needs its key."""
        return self.tape is not None and self.tape.mode == "replay" and self.tape.misses == "empty"

    @property
    def region_providers(self) -> tuple[ProviderName, ...]:
        """Providers that get parts of photos, in order of preference; empty unless the operator allows it."""
        if self.replays or not self.region_search.allowed:
            return ()
        return tuple(name for name in self.providers if searches_pictures(name))

    @property
    def providers_by_url(self) -> tuple[ProviderName, ...]:
        """Those of `region_providers` that fetch the parts from a URL."""
        return tuple(name for name in self.region_providers if fetches_pictures(name))

    @property
    def serves_regions(self) -> bool:
        """Whether search services fetch pictures from this very service."""
        return self.region_search.upload.kind == "gateway" and bool(self.providers_by_url)

    @property
    def needs_network(self) -> bool:
        """Whether a tool may call another machine: a provider needs it, and no tape replaces the provider."""
        asks = bool(self.mcp) or any(name not in ("offline", "tape") for name in self.providers)
        return asks and not self.replays

    @property
    def may_send(self) -> bool:
        """Whether a tool may have sent something to another machine. A tool of another package may: it has a client."""
        return self.needs_network or (bool(_ADDED_TOOLS) and not self.replays)
