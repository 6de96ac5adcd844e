"""The one configuration tree. Structure comes from YAML, secrets from the environment, nothing from anywhere else.

Every node is frozen and refuses unknown keys. `AppArgs` is what `deployments.app.build` takes: Ray Serve validates the
`args:` of a config file into it, `geotts config show` prints it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, JsonValue, ValidationError, model_validator

from tts.dialects.settings import DialectSettings
from tts.domain.photo import PhotoLimits
from tts.domain.plan import Limits
from tts.domain.stopping import STOP_PATTERN
from tts.domain.value import Value
from tts.errors import ConfigError

CONFIG_VERSION = 1
Seconds = Annotated[float, Field(gt=0, le=86400)]


class _Engine(Value):
    @property
    def shares_prefix(self) -> bool:
        """Whether rollouts of one query save work by running in one engine, the first ahead of the others."""
        return False


class CluesEngine(_Engine):
    """The embedded engine: reads signs, needs no GPU, key or network."""

    name: Literal["clues"] = "clues"
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7


class ScriptedEngine(_Engine):
    """Plays a tape, or a generated script with a latency model. For tests, benchmarks and replay."""

    name: Literal["scripted"] = "scripted"
    tape: str | None = Field(default=None, description="JSONL tape; a generated script when absent")
    turns: Annotated[int, Field(ge=1, le=64)] = 3
    tokens_per_turn: Annotated[int, Field(ge=0)] = 16
    turn_s: Annotated[float, Field(ge=0)] = 0.0
    tool: str | None = Field(default="poi_keyword_search", description="called once a turn before the last")


class OpenAIEngine(_Engine):
    """Any endpoint that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, hosted."""

    name: Literal["openai"] = "openai"
    base_url: Annotated[str, Field(pattern=r"^https?://")] = Field(
        default="http://127.0.0.1:8001/v1", description="up to and including /v1"
    )
    model: str = Field(default="", description="as the endpoint calls it; the first it lists when empty")
    api_key_env: str = Field(default="OPENAI_API_KEY", description="environment variable with the key; none is fine")
    server: Literal["openai", "vllm", "sglang", "llama_cpp"] = Field(
        default="vllm", description="which sampling extensions may be sent; openai: none"
    )
    tools: Literal["native", "template", "text"] = Field(
        default="native",
        description="native: the endpoint parses calls; template: its chat template lists the tools and calls come as "
        "text; text: tools are listed in the system text (hermes)",
    )
    max_running: Annotated[int, Field(ge=1, le=4096)] = 64
    max_queued: Annotated[int, Field(ge=0)] = 1024
    retries: Annotated[int, Field(ge=0, le=16)] = 4
    backoff_s: Annotated[float, Field(gt=0, le=60)] = Field(default=0.5, description="doubled each time, with jitter")
    connect_s: Seconds = 5.0
    first_token_s: Seconds = Field(default=120.0, description="from the request to the first chunk")
    idle_s: Seconds = Field(default=60.0, description="between two chunks")
    jpeg_quality: Annotated[int, Field(ge=30, le=100)] = 90
    extra_body: dict[str, JsonValue] = Field(default={}, description="sent along with every request")


class VllmEngine(_Engine):
    """vLLM in the Rollout replica: GPUs, or CPU for tests. Needs the extra `vllm`; see docs/vllm.md."""

    name: Literal["vllm"] = "vllm"
    model: str = Field(description="a folder, or a name that vLLM can find")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    load_format: Literal["auto", "safetensors", "dummy"] = Field(
        default="auto", description="dummy: random weights, to measure speed without a download"
    )
    max_model_len: Annotated[int, Field(ge=256)] | None = None
    max_running: Annotated[int, Field(ge=1)] = Field(default=64, description="generations batched together")
    tensor_parallel: Annotated[int, Field(ge=1)] = 1
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = Field(default=0.9, description="share of a GPU's memory")
    kv_cache_gb: Annotated[float, Field(gt=0)] | None = Field(default=None, description="instead of what is left over")
    eager: bool = Field(default=False, description="no CUDA graphs: starts faster, runs slower")
    max_images: Annotated[int, Field(ge=1, le=128)] = Field(default=32, description="pictures in one conversation")
    loras: dict[str, str] = Field(default={}, description="adapters by name: folder")
    lora: str | None = Field(default=None, description="the adapter of rollouts that name none")
    max_lora_rank: Annotated[int, Field(ge=1)] = 64
    constrain: Literal["none", "turns"] = Field(
        default="none",
        description="turns: every turn is a tool call and the last one a generic answer, by constrained decoding",
    )
    turn_schema: dict[str, JsonValue] | None = Field(default=None, description="instead of the tools' own schemas")
    extra: dict[str, JsonValue] = Field(default={}, description="further engine arguments under vLLM's own names")

    @model_validator(mode="after")
    def _known_adapter(self) -> VllmEngine:
        if self.lora is not None and self.lora not in self.loras:
            raise ValueError(f"lora {self.lora!r} is not one of loras")
        return self

    @property
    def shares_prefix(self) -> bool:
        return True


Engine = Annotated[CluesEngine | ScriptedEngine | OpenAIEngine | VllmEngine, Field(discriminator="name")]


class RoutingConfig(Value):
    """How photos are rated, and when rollouts are stopped before they end."""

    method: Literal["cues", "fixed", "visual", "probe"] = "cues"
    segmentation_model: str | None = Field(default=None, description="MaskFormer ADE20K weights for `visual`")
    depth_calibration: str | None = Field(default=None, description="file that `geotts calibrate-depth` wrote")
    fixed_score: Annotated[float, Field(ge=0, le=1)] = 0.5
    stop: Annotated[str, Field(pattern=STOP_PATTERN)] = Field(
        default="worth", description="none, quorum[:k], first:m, beta[:p] or worth[:p]; a request may name another"
    )
    stragglers: Literal["wait", "cut", "hedge"] = "cut"

    @model_validator(mode="after")
    def _has_weights(self) -> RoutingConfig:
        if self.method == "visual" and self.segmentation_model is None:
            raise ValueError("method visual needs segmentation_model: a folder with MaskFormer ADE20K weights")
        return self


ProviderName = Literal["offline", "amap", "google", "osm", "serper", "tavily", "ydc", "brave", "searxng", "tape"]


class ProviderSettings(Value):
    """How one provider is reached. What is absent has a default that suits the service."""

    base_url: str | None = Field(default=None, description="your own instance or proxy; it may be a private address")
    urls: dict[Literal["nominatim", "photon", "overpass", "tiles", "satellite_tiles"], str] = Field(
        default={}, description="for osm: servers other than the public ones"
    )
    path: str | None = Field(default=None, description="for tape: a tape file, or a folder in the REVERSE layout")
    key_env: str | None = Field(default=None, description="environment variable with the key, or several with commas")
    per_s: Annotated[float, Field(gt=0)] | None = Field(default=None, description="requests a second, all replicas")
    burst: Annotated[float, Field(ge=1)] | None = None
    max_running: Annotated[int, Field(ge=1)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=120)] | None = None
    retries: Annotated[int, Field(ge=0, le=5)] | None = None


class TapeConfig(Value):
    """Record what tools answer, or answer from such a record."""

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
    cache: str = Field(default="memory:", description="memory:, sqlite:///path (one node) or redis://host (cluster)")
    ttl_s: dict[str, Annotated[float, Field(ge=0)]] = Field(default={}, description="by tool; defaults suit each")
    contact: str = Field(default="", description="an address told to public services that ask for one")
    outgoing_log: str | None = Field(default=None, description="JSONL file of what left the machine, to whom, when")
    tape: TapeConfig | None = None

    @property
    def needs_network(self) -> bool:
        return any(name not in ("offline", "tape") for name in self.providers)


class ConsistencyConfig(Value):
    """A second reader of the reasoning (GeoAgent). λ and μ of its length damping are unpublished, hence settings."""

    engine: Engine | None = Field(default=None, description="of the second reader; the rollouts' when absent")
    weight: Annotated[float, Field(ge=0, le=1)] = Field(default=0.3, description="confidence at stake")
    steepness: Annotated[float, Field(gt=0)] = Field(default=0.05, description="λ, per word")
    mu_words: Annotated[float, Field(ge=0)] = Field(default=60.0, description="μ: words at which half counts")
    max_rollouts: Annotated[int, Field(ge=1, le=32)] = 4
    timeout_s: Seconds = 10.0


class VerifierConfig(Value):
    """consensus: ledgers and weighted votes. model: a model weighs the evidence first, the ledgers check it."""

    kind: Literal["consensus", "model"] = "consensus"
    mode: Literal["select", "synthesise", "self_verify"] = "select"
    engine: Engine | None = Field(default=None, description="of the verifier model; the rollouts' when absent")
    lora: str | None = Field(default=None, description="adapter of the verifier model")
    evidence_tokens: Annotated[int, Field(ge=200)] = 3000
    max_tokens: Annotated[int, Field(ge=64)] = 1024
    tournament_above: Annotated[int, Field(ge=2, le=32)] = Field(
        default=8, description="more branches than this are judged in heats"
    )
    show_photo: bool = True
    consistency: ConsistencyConfig | None = Field(
        default=None, description="a second model reads the reasoning alone; where it disagrees, confidence is lowered"
    )
    calibration: Path | None = Field(
        default=None, description="a file of `geotts calibrate`; the one that ships for the engine when absent"
    )


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
            raise ValueError("min_replicas is above max_replicas")
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


class DeploymentsConfig(Value):
    gateway: DeploymentConfig = DeploymentConfig(max_ongoing=512, max_queued=512)
    locatability: DeploymentConfig = DeploymentConfig()
    rollout: DeploymentConfig = DeploymentConfig(replicas=2)
    tools: DeploymentConfig = DeploymentConfig(max_ongoing=256, max_queued=2048)
    verifier: DeploymentConfig = DeploymentConfig()


class AccessConfig(Value):
    """Who may use the service. Keys are kept as SHA-256 only, in a file or in GEOTTS_API_KEYS: `geotts keys new`."""

    mode: Literal["off", "keys"] = Field(default="off", description="off is for loopback addresses only")
    keys_file: str | None = Field(default=None, description="one key a line: name sha256 [requests/min [concurrent]]")
    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="for keys that state no rate of their own"
    )
    burst: Annotated[int, Field(ge=1)] = 10
    max_concurrent: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="requests at work at once, for keys that state no number of their own"
    )


class GatewayConfig(Value):
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    photo: PhotoLimits = PhotoLimits()
    default_deadline_s: Seconds = 120.0
    max_deadline_s: Seconds = 900.0
    heartbeat_s: Seconds = 10.0
    body_timeout_s: Seconds = 30.0
    max_in_flight: Annotated[int, Field(ge=1)] = 64
    max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=96 * 2**20, description="a whole request, however many photos it has"
    )
    max_decoding: Annotated[int, Field(ge=1)] = Field(
        default=4, description="photos decoded at once: each may take max_pixels times 4 bytes"
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
    lease_s: Seconds = Field(default=10.0, description="a gateway silent for this long has lost its requests")
    access: AccessConfig = AccessConfig()
    cors_origins: tuple[str, ...] = Field(default=(), description="web origins that may call, or one `*`")
    allowed_hosts: tuple[str, ...] = Field(default=(), description="further Host names that a loopback service answers")
    audit_log: str | None = Field(
        default=None, description="JSON lines: who asked, what left this machine, what was erased"
    )

    @property
    def on_loopback(self) -> bool:
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


class TelemetryConfig(Value):
    """Off unless an exporter is named. W3C trace context is passed on either way."""

    traces: Literal["off", "otlp", "console"] = "off"
    endpoint: str | None = Field(default=None, description="OTLP/HTTP endpoint; OTEL_* variables are honoured too")
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    logs: Literal["text", "json"] = Field(default="text", description="json: one object a line on stderr, with ids")


class AppArgs(Value):
    """The whole application."""

    config_version: Literal[1] = 1
    engine: Engine = CluesEngine()
    observer: Engine | None = Field(
        default=None, description="sees the photos for an engine without eyes: two models in one rollout"
    )
    dialect: str = "generic"
    dialect_settings: DialectSettings = Field(
        default=DialectSettings(), description="what differs from the dialect's own; for `dialect` only"
    )
    limits: Limits = Limits()
    routing: RoutingConfig = RoutingConfig()
    tools: ToolsConfig = ToolsConfig()
    verifier: VerifierConfig = VerifierConfig()
    gateway: GatewayConfig = GatewayConfig()
    deployments: DeploymentsConfig = DeploymentsConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    group_size: Annotated[int, Field(ge=1, le=32)] | None = Field(
        default=None, description="rollouts in one Serve call; ceil(N / replicas) for clues, all of them else"
    )
    placement: Literal["load", "photo_hash"] = Field(
        default="load", description="photo_hash: queries about one photo meet on one replica, while it has room"
    )
    coalesce_s: Annotated[float, Field(ge=0, le=1)] = 0.025
    data_dir: str | None = Field(default=None, description="built data; a per-user cache directory when absent")

    @model_validator(mode="after")
    def _possible(self) -> AppArgs:
        gateway = self.deployments.gateway
        gateways = gateway.autoscale.max_replicas if gateway.autoscale else gateway.replicas
        store = self.gateway.run_store
        if gateways > 1 and not store.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError(
                f"{gateways} gateway replicas cannot share a run store in {store.partition(':')[0]}: "
                "set gateway.run_store to redis://…, or one replica"
            )
        if "@" in store.partition("://")[2].partition("/")[0]:
            raise ValueError("gateway.run_store holds a password: give it in GEOTTS_REDIS_PASSWORD")
        if self.gateway.access.mode == "off" and not self.gateway.on_loopback:
            raise ValueError(
                f"gateway.host {self.gateway.host} can be reached from other machines: set gateway.access.mode to keys"
            )
        return self

    @model_validator(mode="after")
    def _shared_where_it_must_be(self) -> AppArgs:
        tools = self.deployments.tools
        several = tools.replicas > 1 or (tools.autoscale is not None and tools.autoscale.max_replicas > 1)
        if several and self.tools.needs_network and self.tools.cache.startswith("memory"):
            raise ValueError(
                "several Tools replicas need a shared tools.cache: sqlite:///path on one node, or redis://"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _known_version(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("config_version", CONFIG_VERSION) != CONFIG_VERSION:
            raise ValueError(
                f"config_version is {data['config_version']!r}, this release reads {CONFIG_VERSION}: see CHANGELOG.md"
            )
        return data


def load_config(
    path: Path | None, overrides: dict[str, Any] | None = None, *, profile: dict[str, Any] | None = None
) -> AppArgs:
    """Read a YAML file: either the bare tree or a Ray Serve config whose first application has `args`.

    `profile` (see `tts.profiles`) goes over the file and under the overrides; its engine replaces the file's.

    Raises:
        ConfigError: naming the file and every wrong key.
    """
    tree: Any = {}
    if path is not None:
        try:
            tree = yaml.safe_load(path.read_text()) or {}
        except (OSError, yaml.YAMLError) as error:
            raise ConfigError(f"cannot read {path}: {error}") from error
        if isinstance(tree, dict) and tree.get("kind") == "RayService":
            tree = yaml.safe_load(str(tree.get("spec", {}).get("serveConfigV2", ""))) or {}
        if isinstance(tree, dict) and "applications" in tree:
            tree = (tree["applications"] or [{}])[0].get("args") or {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}: expected a mapping at the top")
    if profile is not None:
        tree = {**_deep_merge(tree, profile), "engine": profile["engine"]}
    return _validated(_deep_merge(tree, overrides or {}), str(path or "configuration"))


def checked(args: AppArgs, changes: dict[str, Any]) -> AppArgs:
    """`args` with some top-level nodes replaced, and checked again. Raises ConfigError."""
    return _validated({**args.model_dump(), **changes}, "configuration")


def _validated(tree: dict[str, Any], name: str) -> AppArgs:
    try:
        return AppArgs.model_validate(tree)
    except ValidationError as error:
        lines = [f"  {'.'.join(str(p) for p in e['loc']) or '(top)'}: {e['msg']}" for e in error.errors()]
        raise ConfigError("\n".join([f"{name} is not valid:", *lines])) from error


def _deep_merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _deep_merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
