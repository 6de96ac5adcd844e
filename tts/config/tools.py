"""The toolbox: providers, cache, tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from tts.config.mcp import McpServerConfig
from tts.config.provider_names import ProviderName, fetches_pictures, searches_pictures
from tts.config.region_search import RegionSearchConfig
from tts.domain.value import Value
from tts.extensions import Registry

# tools of other packages; the argument is a `tools.registry.ToolParts`
ADDED_TOOLS: Registry[Callable[[Any], Any]] = Registry("geotts.tools")


class ProviderSettings(Value):
    """How one provider is reached. Each absent setting has a default for this service."""

    base_url: str | None = Field(
        default=None, description="URL of your own instance or proxy; a private address is allowed"
    )
    urls: dict[Literal["nominatim", "photon", "overpass", "tiles", "satellite_tiles"], str] = Field(
        default={}, description="for osm: URLs of servers that replace the public ones"
    )
    path: str | None = Field(default=None, description="for tape: a tape file, or a folder in the REVERSE layout")
    matching: Literal["likeness", "reverse"] = Field(
        default="likeness",
        description="for tape: how a recorded search is found. likeness: the most similar query or region; reverse: by "
        "the rules of REVERSE's training",
    )
    photos: str | None = Field(
        default=None,
        description="for tape: a table that names for each photo (sha256 or file) its image_path in REVERSE's tables",
    )
    key_env: str | None = Field(
        default=None, description="environment variable with the key, or with several keys, separated by commas"
    )
    per_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="most requests a second, by all replicas together"
    )
    burst: Annotated[float, Field(ge=1)] | None = Field(
        default=None, description="most requests at once within `per_s`"
    )
    max_running: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="requests of one process that run at the same time; further requests wait"
    )
    timeout_s: Annotated[float, Field(gt=0, le=120)] | None = Field(
        default=None, description="seconds that one request may take"
    )
    retries: Annotated[int, Field(ge=0, le=5)] | None = Field(
        default=None, description="most repetitions of a failed request"
    )


class TapeConfig(Value):
    """Record the results of tools, or replay recorded results."""

    path: str = Field(description="tape file")
    mode: Literal["record", "replay"] = Field(
        description="record: tool results are written to the tape; replay: tool results come from the tape"
    )
    misses: Literal["empty", "live"] = Field(
        default="empty",
        description="replay of a call that is not on the tape. empty: the most similar recorded search, if one is "
        "similar enough; live: the tool is called",
    )
    iou: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.7,
        description="lowest overlap (intersection over union) at which two regions of image searches are similar",
    )
    jaccard: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.7, description="lowest Jaccard index of the words at which two text searches are similar"
    )


class ToolsConfig(Value):
    """Providers in order of preference; each ability is served by the first that has it, China by `amap` if named."""

    providers: tuple[ProviderName, ...] = Field(
        default=("offline",), description="providers of the tools, in order of preference"
    )
    settings: dict[ProviderName, ProviderSettings] = Field(
        default={}, description="settings of each provider, by its name"
    )
    cache: str = Field(
        default="memory:",
        description="where tool results are cached: memory:, sqlite:///path (one node) or redis://host (cluster). The "
        "password comes from GEOTTS_REDIS_PASSWORD, or from GEOTTS_TOOLS_REDIS_PASSWORD if it is another one",
    )
    ttl_s: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default={},
        description="seconds for which the results of a tool are cached, by the name of the tool. Default: a value for "
        "each tool",
    )
    contact: str = Field(
        default="",
        description="your address, such as an e-mail address; it is sent to public services that ask for one",
    )
    outgoing_log: str | None = Field(
        default=None,
        description="JSONL file that lists what left the machine, with receiver and time; lines are kept for "
        "gateway.retention_s",
    )
    region_search: RegionSearchConfig = Field(
        default=RegionSearchConfig(), description="search by parts of photos, which sends them to others"
    )
    mcp: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")], McpServerConfig] = Field(
        default={}, description="external MCP servers, by name; their tools are offered as NAME__TOOL"
    )
    tape: TapeConfig | None = Field(default=None, description="recording or replay of tool results. Default: neither")

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
        return self.needs_network or (bool(ADDED_TOOLS) and not self.replays)
