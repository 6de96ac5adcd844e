"""The engines a configuration can name. Each has its settings and nothing of the others."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from tts.config.units import Seconds
from tts.domain.value import Value


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
