"""Settings of the gateway: addresses, limits, access, retention."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.config.connections import ConnectionLimits
from tts.config.map_tiles import TileSource
from tts.config.units import Seconds
from tts.config.webhooks import WebhookConfig
from tts.domain.photo import PhotoLimits
from tts.domain.value import Value


class AccessConfig(Value):
    """Who may use the service. Keys are kept as SHA-256 only, in a file or in GEOTTS_API_KEYS: `geotts keys new`."""

    mode: Literal["off", "keys"] = Field(default="off", description="off is for loopback addresses only")
    keys_file: str | None = Field(
        default=None, description="one key a line: name sha256 [cost=USD] [cost/day=USD] [requests/min|- [concurrent]]"
    )
    requests_per_minute: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="for keys that state no rate of their own"
    )
    burst: Annotated[int, Field(ge=1)] = 10
    max_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="US dollars that the models of one request may cost, for keys that state none"
    )
    max_cost_per_day_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="and in any 24 hours; every request counts with all that it may cost"
    )
    max_concurrent: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="requests at work at once, for keys that state no number of their own"
    )


class GatewayConfig(Value):
    """Where the gateway listens, what it accepts from whom, and how long it keeps what belongs to a request."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    public_url: str | None = Field(
        default=None, description="where the internet reaches this service, for tools.region_search; https://…"
    )
    photo: PhotoLimits = PhotoLimits()
    default_deadline_s: Seconds = 120.0
    max_deadline_s: Seconds = 900.0
    heartbeat_s: Seconds = Field(default=5.0, description="clients take 12 s without one for a lost gateway")
    connections: ConnectionLimits = ConnectionLimits()
    body_timeout_s: Seconds = Field(default=300.0, description="for a whole body that comes at a fair pace")
    body_window_s: Seconds = Field(
        default=10.0, description="a body that brings less than min_body_bytes_per_s for this long is ended"
    )
    min_body_bytes_per_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1024.0, description="on average over body_window_s"
    )
    fetch_timeout_s: Seconds = Field(default=30.0, description="for the photos of one request that are sent as URLs")
    max_in_flight: Annotated[int, Field(ge=1)] = 64
    max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=96 * 2**20, description="a whole request, however many photos it has"
    )
    max_decoding: Annotated[int, Field(ge=1)] = Field(
        default=4, description="photos decoded at once: each may take max_pixels times 4 bytes"
    )
    max_fetches: Annotated[int, Field(ge=1)] = Field(
        default=8, description="photos got from URLs at once for one key; further ones wait"
    )
    fetch_urls: bool = Field(default=True, description="photos may be sent as URLs, which this machine fetches")
    fetch_hosts: tuple[str, ...] = Field(default=(), description="host:port pairs in private networks to fetch from")
    retention_s: Annotated[float, Field(ge=0)] = Field(
        default=24 * 3600.0, description="after this, logs, photos and crops of a request are erased"
    )
    run_store: str = Field(
        default="memory",
        description="memory or sqlite:///path for one gateway, redis://host:port/0 for several; a password comes from "
        "GEOTTS_REDIS_PASSWORD",
    )
    max_precision: Literal["city", "region", "country"] | None = Field(
        default=None,
        description="nothing finer leaves the gateway: points are centres of such units; no reasons, evidence or files",
    )
    blob_store: str = Field(
        default="",
        description="where the bytes of photos, crops and maps lie: a folder that all gateways share, or any fsspec "
        "URL such as s3://bucket/folder; in the run store when empty",
    )
    lease_s: Seconds = Field(default=10.0, description="a gateway silent for this long has lost its requests")
    access: AccessConfig = AccessConfig()
    cors_origins: tuple[str, ...] = Field(default=(), description="web origins that may call, or one `*`")
    allowed_hosts: tuple[str, ...] = Field(default=(), description="further Host names that a loopback service answers")
    map_tiles: tuple[TileSource, ...] = Field(
        default=(), description="further maps for the page; it asks their servers only when somebody chooses one"
    )
    webhooks: WebhookConfig = WebhookConfig()
    audit_log: str | None = Field(
        default=None, description="JSON lines: who asked, what left this machine, what was erased"
    )

    @property
    def on_loopback(self) -> bool:
        """Whether `host` is a loopback address, so that other machines cannot reach the service."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")
