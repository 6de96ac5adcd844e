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
        description="form of the pictures in requests to an endpoint. inline: the whole picture in every turn; uuid: "
        "the whole picture once, then its name, also to a server that is not recognised as vLLM; auto: uuid for vLLM, "
        "else inline",
    )
    remember_days: Annotated[float, Field(ge=0, le=365)] = Field(
        default=7,
        description="days for which the form of requests that the endpoint accepts stays stored, so that refused forms "
        "are not tried again after a restart; 0: nothing is stored",
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
    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.7, description="influence of chance on the lines and names that a rollout follows; 0: no influence"
    )


class ScriptedEngine(_Engine):
    """Plays a script, from the file `tape` or generated, with a latency model. For tests, benchmarks and replay."""

    name: Literal["scripted"] = "scripted"
    tape: str | None = Field(default=None, description="JSONL file with the turns to play. Default: a generated script")
    turns: Annotated[int, Field(ge=1, le=64)] = Field(
        default=3, description="turns of a rollout in the generated script"
    )
    tokens_per_turn: Annotated[int, Field(ge=0)] = Field(
        default=16, description="tokens of a turn in the generated script"
    )
    turn_s: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="seconds that a turn takes in the generated script"
    )
    tool: str | None = Field(
        default="poi_keyword_search",
        description="tool that the generated script calls in every turn but the last; null: none",
    )
    prefix_cache: bool = Field(
        default=False,
        description="whether the first rollout of a group starts before the others, as with an engine that caches "
        "prefixes",
    )
    kv_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="most tokens that all generations hold together; above this number, generations are preempted. "
        "Default: no limit",
    )
    sees_pictures: bool = Field(
        default=False, description="whether requests are planned as for a model that sees the photo"
    )
    journal: str | None = Field(
        default=None, description="file to which the engine appends one line of JSON at the beginning of every turn"
    )

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
        default="http://127.0.0.1:8001/v1", description="URL of the endpoint, up to and including /v1"
    )
    base_urls: tuple[Annotated[str, Field(pattern=r"^https?://")], ...] = Field(
        default=(),
        description="URLs of further endpoints with the same model. Rollouts about one photo use one endpoint while it "
        "has room",
    )
    model: str = Field(
        default="", description="name of the model at the endpoint; may be empty if the endpoint lists only one model"
    )
    sees_pictures: bool = Field(default=True, description="whether the model can see pictures; false: a text model")
    thinks: bool | None = Field(
        default=None,
        description="whether the model reasons before it answers; no grammar constrains the output of a verifier that "
        "uses it then. Default: decided by the name of the model",
    )
    calls_tools: bool = Field(default=True, description="whether the model can call tools; false: no tools are offered")
    api_key_env: str = Field(
        default="OPENAI_API_KEY",
        description="environment variable with the API key; the endpoint gets no key if it is not set",
    )
    server: Literal[
        "auto", "openai", "gemini", "anthropic", "openrouter", "vllm", "sglang", "llama_cpp", "ollama", "lm_studio"
    ] = Field(
        default="auto",
        description="kind of the server, which decides about sampling parameters and limits; auto: the endpoint is "
        "asked at its first use",
    )
    context_tokens: Annotated[int, Field(ge=256)] | None = Field(
        default=None,
        description="context length in tokens, prompt and completion together. Default: what the server states",
    )
    max_images: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="most pictures in one request; if there are more, only the first and the latest are sent. Default: "
        "what the server accepts",
    )
    tools: Literal["native", "template", "text"] = Field(
        default="native",
        description="form of tool calls. native: the endpoint parses them; template: the chat template of the endpoint "
        "lists the tools, and calls come as text; text: the system text lists the tools, and calls come as text "
        "(hermes)",
    )
    max_running: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=64, description="requests of one process that run at the same time at one endpoint"
    )
    max_queued: Annotated[int, Field(ge=0)] = Field(
        default=1024, description="requests of one process that may wait for one endpoint; further requests are refused"
    )
    retries: Annotated[int, Field(ge=0, le=16)] = Field(
        default=4, description="most repetitions of a request after temporary failures, as long as no text has arrived"
    )
    backoff_s: Annotated[float, Field(gt=0, le=60)] = Field(
        default=0.5, description="seconds before the first retry, doubled for each further one up to 30 s, with jitter"
    )
    connect_s: Seconds = Field(default=5.0, description="seconds in which the endpoint must accept a connection")
    first_token_s: Seconds = Field(default=120.0, description="seconds in which the first chunk of a reply must arrive")
    idle_s: Seconds = Field(default=60.0, description="most seconds between two chunks of a reply")
    jpeg_quality: Annotated[int, Field(ge=30, le=100)] = Field(
        default=90, description="JPEG quality of the pictures that are sent"
    )
    price: Price | None = Field(
        default=None, description="price in US dollars for a million tokens. Default: that of the shipped price table"
    )
    prefix_cache: bool | None = Field(
        default=None,
        description="whether the first rollout starts before the others, so that the server has the prompt in its "
        "cache for them. Default: true for servers vllm and sglang; for server auto, the others wait at most 3 s; else "
        "false",
    )
    extra_body: dict[str, JsonValue] = Field(
        default={}, description="further fields of every request to the endpoint; they replace fields of the same name"
    )

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
        return Abilities(sees_pictures=self.sees_pictures, calls_tools=self.calls_tools)


class VllmEngine(_Engine):
    """vLLM in the Rollout replica: GPUs, or CPU for tests. Needs the extra `vllm`; see docs/vllm.md."""

    name: Literal["vllm"] = "vllm"
    model: str = Field(description="folder of the model, or a name that vLLM can find")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        default="auto", description="number format of the model, under vLLM's names"
    )
    load_format: Literal["auto", "safetensors", "dummy"] = Field(
        default="auto",
        description="how vLLM loads the weights. dummy: random weights, to measure speed without a download",
    )
    max_model_len: Annotated[int, Field(ge=256)] | None = Field(
        default=None, description="context length in tokens. Default: that of the model"
    )
    max_running: Annotated[int, Field(ge=1)] = Field(default=64, description="most generations in one batch")
    tensor_parallel: Annotated[int, Field(ge=1)] = Field(default=1, description="GPUs among which the model is divided")
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.9, description="share of the memory of each GPU that the engine may use, 0 to 1"
    )
    kv_cache_gb: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="size of the KV cache on each GPU, in GiB. Default: what is left of `gpu_memory`"
    )
    eager: bool = Field(
        default=False,
        description="whether to run without CUDA graphs: the engine starts faster and generates more slowly",
    )
    max_images: Annotated[int, Field(ge=1, le=128)] = Field(default=32, description="most pictures in one conversation")
    chat_template: Path | None = Field(
        default=None, description="Jinja file with the chat template. Default: the template of the model"
    )
    loras: dict[str, str] = Field(default={}, description="LoRA adapters: the folder of each, by name")
    lora: str | None = Field(default=None, description="LoRA adapter of rollouts that name none. Default: no adapter")
    max_lora_rank: Annotated[int, Field(ge=1)] = Field(default=64, description="highest rank of the LoRA adapters")
    constrain: Literal["none", "turns"] = Field(
        default="none",
        description="constrained decoding. none: off; turns: every turn is a tool call, and the last turn is an answer "
        "in the form of dialect generic",
    )
    turn_schema: dict[str, JsonValue] | None = Field(
        default=None,
        description="JSON schema of a turn, for `constrain: turns`. Default: made from the schemas of the tools",
    )
    extra: dict[str, JsonValue] = Field(
        default={}, description="further engine arguments under vLLM's names; they replace the settings above"
    )

    @model_validator(mode="after")
    def _check_adapter(self) -> VllmEngine:
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
        """It sees pictures and calls tools, whatever the model."""
        return Abilities(sees_pictures=True)


Engine = Annotated[CluesEngine | ScriptedEngine | OpenAIEngine | VllmEngine, Field(discriminator="name")]
