"""The engines a configuration can name. Each has settings of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from tts.config.units import Seconds
from tts.domain.abilities import Abilities
from tts.domain.token_price import Price
from tts.domain.value import Value

_KNOWN_CACHE_WAIT_S = 30.0
_LIKELY_CACHE_WAIT_S = 3.0


class _Engine(Value):
    pictures: Literal["auto", "inline", "uuid"] = Field(
        default="auto",
        description="inline: whole in every turn; uuid: once, then by a name (vLLM); auto: uuid with vLLM, else inline",
    )
    remember_days: Annotated[float, Field(ge=0, le=365)] = Field(
        default=7, description="how long what the endpoint refused is remembered across restarts; 0: not at all"
    )

    @property
    def prefix_wait_s(self) -> float | None:
        """How long rollouts of one query wait for the first token of the one that goes ahead, so that the engine has
        their common prompt in its cache; None for an engine that keeps no prefixes."""
        return None

    @property
    def slots(self) -> int | None:
        """Generations that one replica runs side by side; None without a limit."""
        return None

    @property
    def abilities(self) -> Abilities:
        """What the router may plan with."""
        return Abilities()


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
    prefix_cache: bool = Field(
        default=False, description="the first rollout of a group goes ahead, as for an engine that keeps prefixes"
    )
    kv_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="tokens of all its generations together that it holds; above that it preempts"
    )
    sees_pictures: bool = Field(default=False, description="plan for it as for a model that is shown the photo")
    journal: str | None = Field(default=None, description="file that gets a line of JSON for every turn it begins")

    @property
    def prefix_wait_s(self) -> float | None:
        """30 s with `prefix_cache`, else None."""
        return _KNOWN_CACHE_WAIT_S if self.prefix_cache else None

    @property
    def abilities(self) -> Abilities:
        """It does not think; whether it sees pictures is a setting."""
        return Abilities(sees_pictures=self.sees_pictures)


class OpenAIEngine(_Engine):
    """Any endpoint that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, hosted."""

    name: Literal["openai"] = "openai"
    base_url: Annotated[str, Field(pattern=r"^https?://")] = Field(
        default="http://127.0.0.1:8001/v1", description="up to and including /v1"
    )
    base_urls: tuple[Annotated[str, Field(pattern=r"^https?://")], ...] = Field(
        default=(), description="further endpoints of the same model; a photo's rollouts meet at one of them"
    )
    model: str = Field(default="", description="as the endpoint calls it; may be empty where it lists one only")
    sees_pictures: bool = Field(default=True, description="false: a text model, which cannot be shown the photo")
    thinks: bool = Field(default=True, description="the model reasons before it acts")
    calls_tools: bool = Field(default=True, description="false: the model cannot ask for tools; none are offered")
    api_key_env: str = Field(default="OPENAI_API_KEY", description="environment variable with the key; none is fine")
    server: Literal[
        "auto", "openai", "gemini", "anthropic", "openrouter", "vllm", "sglang", "llama_cpp", "ollama", "lm_studio"
    ] = Field(default="auto", description="which server it is: sampling extensions, limits; auto: asked at first use")
    context_tokens: Annotated[int, Field(ge=256)] | None = Field(
        default=None, description="prompt and completion together; as the server says when absent"
    )
    max_images: Annotated[int, Field(ge=1)] | None = Field(default=None, description="pictures in one request")
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
    price: Price | None = Field(
        default=None, description="US dollars for a million tokens; from the shipped price table when absent"
    )
    prefix_cache: bool | None = Field(
        default=None,
        description="the first rollout goes ahead, so that the server has the prompt in its cache for the others; "
        "by default with vLLM, SGLang and, for at most 3 s, a server that was not named",
    )
    extra_body: dict[str, JsonValue] = Field(default={}, description="sent along with every request")

    @property
    def prefix_wait_s(self) -> float | None:
        """30 s with vLLM and SGLang, 3 s with an unnamed server, else None; `prefix_cache` makes it 30 s or None."""
        if self.prefix_cache or (self.prefix_cache is None and self.server in ("vllm", "sglang")):
            return _KNOWN_CACHE_WAIT_S
        return _LIKELY_CACHE_WAIT_S if self.prefix_cache is None and self.server == "auto" else None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every endpoint of this engine, each once."""
        return tuple(dict.fromkeys((self.base_url, *self.base_urls)))

    @property
    def slots(self) -> int:
        """What all endpoints of the engine take from one process."""
        return self.max_running * len(self.addresses)

    @property
    def abilities(self) -> Abilities:
        """As the settings state them."""
        return Abilities(sees_pictures=self.sees_pictures, thinks=self.thinks, calls_tools=self.calls_tools)


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
    chat_template: Path | None = Field(default=None, description="a Jinja file instead of the checkpoint's own")
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
            raise ValueError(f"lora {self.lora!r} is not in loras")
        return self

    @property
    def prefix_wait_s(self) -> float | None:
        """30 s: vLLM keeps prefixes."""
        return _KNOWN_CACHE_WAIT_S

    @property
    def slots(self) -> int:
        """Generations that are batched together."""
        return self.max_running

    @property
    def abilities(self) -> Abilities:
        """It sees pictures, thinks and calls tools, whatever the model."""
        return Abilities(sees_pictures=True, thinks=True)


Engine = Annotated[CluesEngine | ScriptedEngine | OpenAIEngine | VllmEngine, Field(discriminator="name")]
