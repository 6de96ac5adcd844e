"""Settings of the gateway: addresses, limits, access, retention."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deployments.config.connections import ConnectionLimits
from deployments.config.map_tiles import TileSource
from deployments.config.webhooks import WebhookConfig
from tts.config.units import Seconds
from tts.domain.photo import PhotoLimits
from tts.domain.value import Value


class AccessConfig(Value):
    """Who may use the service. Keys are kept as SHA-256 only, in a file or in GEOTTS_API_KEYS: `geotts keys new`."""

    mode: Literal["off", "keys"] = Field(
        default="off",
        description="off: no key is needed, and the service must listen on a loopback address; keys: every caller "
        "needs a key",
    )
    keys_file: str | None = Field(
        default=None,
        description="file with one key a line: name sha256 [operator] [cost=USD] [cost/day=USD] [requests/min|- "
        "[concurrent]]",
    )
    requests_per_minute: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="most requests a minute for a key that has no rate of its own"
    )
    burst: Annotated[int, Field(ge=1)] = Field(
        default=10, description="most requests that a key may send at once within its rate"
    )
    max_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="most US dollars that the models of one request may cost, for a key that has no such limit of its "
        "own",
    )
    max_cost_per_day_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="most US dollars that all requests of a key may cost in 24 hours, for a key that has no such limit "
        "of its own. Each request counts with the most that it may cost",
    )
    max_concurrent: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="most requests of a key that may run at the same time, for a key that has no such limit of its own",
    )


class GatewayConfig(Value):
    """Where the gateway listens, what it accepts from whom, and how long it keeps what belongs to a request."""

    host: str = Field(default="127.0.0.1", description="address on which the service listens")
    port: Annotated[int, Field(ge=1, le=65535)] = Field(
        default=8000, description="TCP port on which the service listens"
    )
    public_url: str | None = Field(
        default=None,
        description="URL at which the internet reaches this service, https://…; search services fetch pictures there "
        "(tools.region_search)",
    )
    photo: PhotoLimits = Field(default=PhotoLimits(), description="limits for one photo, in bytes and pixels")
    default_deadline_s: Seconds = Field(default=120.0, description="deadline in seconds of a request that names none")
    max_deadline_s: Seconds = Field(
        default=900.0, description="longest deadline in seconds; a longer one is reduced to it"
    )
    heartbeat_s: Seconds = Field(
        default=5.0,
        description="seconds between two heartbeats of a stream. After 12 s without one, clients treat the gateway as "
        "lost",
    )
    connections: ConnectionLimits = Field(default=ConnectionLimits(), description="limits of HTTP connections")
    body_timeout_s: Seconds = Field(
        default=300.0, description="seconds in which the whole body of a request must arrive"
    )
    body_window_s: Seconds = Field(
        default=10.0,
        description="seconds in which the rate of a body is measured; a body below min_body_bytes_per_s is refused",
    )
    min_body_bytes_per_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1024.0, description="lowest rate of a body in bytes a second, on average over body_window_s"
    )
    fetch_timeout_s: Seconds = Field(
        default=30.0, description="seconds in which all photos must arrive that one request sends as URLs"
    )
    max_in_flight: Annotated[int, Field(ge=1)] = Field(
        default=64,
        description="requests that one gateway reads or works on at the same time; further requests are refused",
    )
    max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=96 * 2**20, description="most bytes of the body of a request, with all its photos"
    )
    max_decoding: Annotated[int, Field(ge=1)] = Field(
        default=4,
        description="photos that are decoded at the same time; each may take 4 bytes of memory for each of "
        "photo.max_pixels",
    )
    max_fetches: Annotated[int, Field(ge=1)] = Field(
        default=8, description="photos that are fetched from URLs at the same time for one key; further photos wait"
    )
    fetch_urls: bool = Field(
        default=True, description="whether requests may send photos as URLs, which this machine then fetches"
    )
    fetch_hosts: tuple[str, ...] = Field(
        default=(), description="hosts in private networks from which photos may be fetched, as host:port"
    )
    retention_s: Annotated[float, Field(ge=0)] = Field(
        default=24 * 3600.0, description="seconds from the end of a request until its log, photos and crops are erased"
    )
    run_store: str = Field(
        default="memory",
        description="where the state of requests is kept: memory or sqlite:///path for one gateway, "
        "redis://host:port/0 for several. The password comes from GEOTTS_REDIS_PASSWORD",
    )
    max_precision: Literal["city", "region", "country"] | None = Field(
        default=None,
        description="finest unit of an answer. Points are then centres of such units, and answers have no reasons, "
        "evidence or files. Default: no limit",
    )
    blob_store: str = Field(
        default="",
        description="where the bytes of photos, crops and maps are kept: a folder that all gateways share, or any "
        "fsspec URL such as s3://bucket/folder. If empty: the run store",
    )
    lease_s: Seconds = Field(
        default=10.0, description="seconds after which a gateway that does not renew its leases loses its requests"
    )
    access: AccessConfig = Field(default=AccessConfig(), description="who may use the service, and with which limits")
    cors_origins: tuple[str, ...] = Field(
        default=(), description="origins of web pages that may call the service; `*` for all"
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="further values of the header Host that a service without keys accepts, beside local names",
    )
    map_tiles: tuple[TileSource, ...] = Field(
        default=(),
        description="further maps for the page. The browser asks their servers only after a user has chosen the map",
    )
    webhooks: WebhookConfig = Field(default=WebhookConfig(), description="messages to callers when their requests end")
    audit_log: str | None = Field(
        default=None,
        description="file for JSON lines about each request: who sent it, what left this machine, and when it was "
        "erased",
    )
