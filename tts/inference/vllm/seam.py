"""The only file that imports vLLM: everything that depends on its version is here.

Written against vLLM 0.32, the same for the GPU build and the CPU build. The engine core runs in a process of its own.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from tts.config import VllmEngine
from tts.config.setting_names import OF_ENGINE, SettingNames
from tts.errors import ConfigError, FatalError, ModelError, Overloaded
from tts.inference.chat_template import CHATML, detect_traits
from tts.inference.context_overflow import reports_context_overflow
from tts.inference.vllm.content_pictures import Picture
from tts.ports.model_client import Sampling

_log = logging.getLogger(__name__)


class EngineDied(FatalError):
    """The engine core is gone: this replica serves no more, and what it ran goes on elsewhere."""

    code = "engine-died"


@dataclass(frozen=True, slots=True)
class Piece:
    """What the engine produced since the last piece. `cached_tokens` counts prompt tokens that were not computed,
    `preemptions` how often the generation was put back so far, to make room.

    `likeliest` has the ids of the likeliest tokens at each place, the best first, where log-probabilities were asked
    for. `draw` is the number of the text that it belongs to, from 0 on, where a generation has several.
    """

    text: str
    token_ids: tuple[int, ...]
    finish_reason: Literal["stop", "length"] | None = None
    cached_tokens: int = 0
    prompt_tokens: int = 0
    preemptions: int = 0
    logprobs: tuple[float, ...] = ()
    likeliest: tuple[tuple[int, ...], ...] = ()
    draw: int = 0


@dataclass(slots=True)
class EngineStats:
    """Counts since the start; `kv_use` in [0, 1] is as of the engine's last step. `preempted` counts generations that
    the engine put back to make room, `recomputed_tokens` those of them that were not in the prefix cache any more.
    """

    kv_use: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    pictures: int = 0
    pictures_known: int = 0
    preempted: int = 0
    recomputed_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation as the engine takes it. With `draws` above 1 vLLM forks it into as many that share the blocks of
    their prompt and have seeds that follow each other, and they come when all have ended. It must not be greedy then.
    """

    id: str
    token_ids: list[int]
    pictures: list[Picture]
    sampling: Sampling
    json_schema: dict[str, JsonValue] | None
    priority: int
    lora: str | None
    cache_salt: str | None = None
    draws: int = 1


class VllmSeam:
    """A running vLLM engine. Making one loads the model and blocks until it is ready.

    `names`: how advice about a failure names the settings of this engine.
    """

    def __init__(self, config: VllmEngine, names: SettingNames = OF_ENGINE) -> None:
        prepare(config)
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self.stats = EngineStats()
        self._names = names
        self._closed = False
        self._loras = {name: (i + 1, path) for i, (name, path) in enumerate(sorted(config.loras.items()))}
        # In chunks vLLM 0.32 rewinds the generator of a seeded request; a CPU's cannot be, and the engine would die.
        chunked = {} if has_cuda() else {"enable_chunked_prefill": False}
        arguments = AsyncEngineArgs(**(chunked | engine_arguments(config)))
        self._engine = AsyncLLM.from_engine_args(arguments, stat_loggers=[_make_stat_logger(self.stats)])
        self.tokenizer = _ChatTokenizer(self._engine.get_tokenizer(), config)
        self.gpus = int(self._engine.vllm_config.parallel_config.world_size_across_dp) if has_cuda() else 0

    @property
    def block_size(self) -> int:
        """Tokens that the prefix cache keeps or drops together."""
        return int(self._engine.vllm_config.cache_config.block_size)

    @property
    def kv_tokens(self) -> int | None:
        """Tokens that the KV cache holds; None when the engine does not say so."""
        cache = self._engine.vllm_config.cache_config
        known: int | None = cache.kv_cache_size_tokens or (cache.num_gpu_blocks or 0) * self.block_size or None
        return known

    @property
    def unfinished(self) -> int:
        """Generations the engine has been given and not finished or aborted."""
        return int(self._engine.get_num_unfinished_requests())

    def check(self) -> None:
        """Raises EngineDied when the engine core is gone."""
        if self._engine.errored:
            raise EngineDied("the engine core died")

    def close(self) -> None:
        """End the engine core; the second time nothing happens."""
        if not self._closed:
            self._closed = True
            self._engine.shutdown()

    async def generate(self, generation: Generation) -> AsyncIterator[Piece]:
        """Closing the iterator aborts the generation in the engine core within milliseconds."""
        from vllm.exceptions import GracefulHTTPError, VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError

        outputs = self._engine.generate(
            _prompt(generation),
            _sampling_params(generation),
            generation.id,
            lora_request=self._lora_request(generation.lora),
            priority=generation.priority,
        )
        try:
            async with aclosing(outputs) as stream:
                async for output in stream:
                    for completion in output.outputs:
                        yield _piece(output, completion)
        except EngineDeadError as error:
            raise EngineDied("the engine core died") from error
        except GracefulHTTPError as error:
            raise Overloaded("the engine's queue is full") from error
        except VLLMClientError as error:
            message = str(error)[:300]
            too_long = reports_context_overflow(message)
            raise ModelError(
                f"the engine refused the request: {message}",
                about="context" if too_long else "",
                mend=_longer_context(self._names) if too_long else "",
            ) from error

    def _lora_request(self, name: str | None) -> Any:
        if name is None:
            return None
        from vllm.lora.request import LoRARequest

        if name not in self._loras:
            raise ModelError(f"there is no adapter {name!r}; there are: {', '.join(self._loras) or 'none'}")
        number, path = self._loras[name]
        return LoRARequest(name, number, path)


class _ChatTokenizer:
    """A `tts.inference.token_prompts.Tokenizer` over the engine's own tokenizer and the model's chat template."""

    def __init__(self, tokenizer: Any, config: VllmEngine) -> None:
        self._tokenizer = tokenizer
        self._template = _configured_template(config) or _own_template(tokenizer, config.model)
        if self._template is None:
            raise ConfigError(f"{config.model} has no chat template: name a file with engine.chat_template")
        ids = tokenizer.encode("<|im_end|>", add_special_tokens=False)
        self.end_of_turn = int(ids[0] if len(ids) == 1 else tokenizer.eos_token_id)
        self._template_without_tools = self._template
        traits = detect_traits(self.render)
        self.lists_tools = traits.lists_tools
        if not traits.keeps_system:
            self._replace_lossy_template(config, chatml=len(ids) == 1)

    def _replace_lossy_template(self, config: VllmEngine, *, chatml: bool) -> None:
        """Where no tools are listed the template loses the system text: ours takes its place there."""
        if not chatml:
            raise ConfigError(
                f"the chat template of {config.model} loses the system text: name another with chat_template"
            )
        _log.warning("%s: its chat template loses the system text without tools; ChatML is used there", config.model)
        self._template_without_tools = CHATML

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        """Raises ValueError where the template refuses the conversation."""
        from jinja2 import TemplateError

        template = self._template if tools else self._template_without_tools
        try:
            return str(
                self._tokenizer.apply_chat_template(
                    messages, tools=tools, chat_template=template, add_generation_prompt=True, tokenize=False
                )
            )
        except TemplateError as error:
            raise ValueError(f"the chat template refuses the conversation: {error}") from error

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))


def _longer_context(names: SettingNames) -> str:
    longest = names.name("max_model_len")
    return f"set a longer {longest}, or ask for less: limits.max_turns, dialect_settings.pictures"


def _configured_template(config: VllmEngine) -> str | None:
    if config.chat_template is None:
        return None
    try:
        return config.chat_template.read_text()
    except OSError as error:
        raise ConfigError(f"engine.chat_template: {config.chat_template} cannot be read: {error.strerror}") from error


def _own_template(tokenizer: Any, model: str) -> str | None:
    """The checkpoint's: in its tokenizer, or beside it."""
    if template := getattr(tokenizer, "chat_template", None):
        return str(template)
    path = Path(model) / "chat_template.jinja"
    return path.read_text() if path.is_file() else None


def is_installed() -> bool:
    """Whether the package vLLM is there; looks for it without importing it."""
    return find_spec("vllm") is not None


def has_cuda() -> bool:
    """Whether vLLM is installed and would run on a CUDA device."""
    if not is_installed():
        return False
    from vllm.platforms import current_platform

    return bool(current_platform.is_cuda())


def prepare(config: VllmEngine) -> None:
    """Set what vLLM reads from the environment. Raises ConfigError where it is not installed."""
    if not is_installed():
        raise ConfigError("the vllm engine needs vLLM: pip install 'geotts[vllm]' (see docs/vllm.md)")
    defaults = {"VLLM_LOGGING_LEVEL": "WARNING", "VLLM_NO_USAGE_STATS": "1", "VLLM_CONFIGURE_LOGGING": "1"}
    if config.kv_cache_gb is not None:
        defaults["VLLM_CPU_KVCACHE_SPACE"] = str(max(1, round(config.kv_cache_gb)))
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def engine_arguments(config: VllmEngine) -> dict[str, Any]:
    """Our settings under vLLM's names. `extra` goes through as it is and wins."""
    arguments: dict[str, Any] = {
        "model": config.model,
        "dtype": config.dtype,
        "max_model_len": config.max_model_len,
        "tensor_parallel_size": config.tensor_parallel,
        "gpu_memory_utilization": config.gpu_memory,
        "enforce_eager": config.eager,
        "load_format": config.load_format,
        "enable_prefix_caching": True,
        "scheduling_policy": "priority",
        "limit_mm_per_prompt": {"image": config.max_images, "video": 0},
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "max_num_seqs": config.max_running,
    }
    if config.kv_cache_gb is not None:
        arguments["kv_cache_memory_bytes"] = int(config.kv_cache_gb * 2**30)
    if config.loras:
        arguments |= {"enable_lora": True, "max_loras": len(config.loras), "max_lora_rank": config.max_lora_rank}
    return arguments | config.extra


def _prompt(generation: Generation) -> Any:
    from vllm.inputs import TokensPrompt

    prompt = TokensPrompt(prompt_token_ids=generation.token_ids)
    if generation.cache_salt is not None:
        prompt["cache_salt"] = generation.cache_salt
    if generation.pictures:
        prompt["multi_modal_data"] = {"image": [picture.image for picture in generation.pictures]}
        prompt["multi_modal_uuids"] = {"image": [picture.uuid for picture in generation.pictures]}
    return prompt


def _sampling_params(generation: Generation) -> Any:
    from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams

    sampling, schema = generation.sampling, generation.json_schema
    return SamplingParams(
        n=generation.draws,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=max(0, sampling.top_k),
        min_p=sampling.min_p,
        presence_penalty=sampling.presence_penalty,
        repetition_penalty=sampling.repetition_penalty,
        seed=sampling.seed,
        max_tokens=sampling.max_tokens,
        stop=list(sampling.stop) or None,
        logprobs=sampling.logprobs,
        output_kind=RequestOutputKind.DELTA if generation.draws == 1 else RequestOutputKind.FINAL_ONLY,
        structured_outputs=None if schema is None else StructuredOutputsParams(json=schema),
    )


def _piece(output: Any, completion: Any) -> Piece:
    reason = completion.finish_reason
    logprobs = completion.logprobs or ()
    return Piece(
        text=completion.text,
        token_ids=tuple(completion.token_ids),
        finish_reason=None if reason is None else "length" if reason == "length" else "stop",
        cached_tokens=output.num_cached_tokens or 0,
        prompt_tokens=len(output.prompt_token_ids or ()),
        preemptions=output.metrics.num_preemptions if output.metrics is not None else 0,
        logprobs=tuple(
            float(choices[token].logprob) for choices, token in zip(logprobs, completion.token_ids, strict=False)
        ),
        likeliest=tuple(tuple(sorted(choices, key=lambda one: -choices[one].logprob)) for choices in logprobs),
        draw=completion.index,
    )


def _make_stat_logger(stats: EngineStats) -> Any:
    from vllm.v1.metrics.loggers import StatLoggerBase

    class Counter(StatLoggerBase):  # type: ignore[misc]
        def __init__(self, vllm_config: Any, engine_index: int = 0) -> None:
            return

        def record(
            self, scheduler_stats: Any, iteration_stats: Any, mm_cache_stats: Any = None, engine_idx: int = 0
        ) -> None:
            if scheduler_stats is not None:
                stats.kv_use = scheduler_stats.kv_cache_usage
                prefixes = scheduler_stats.prefix_cache_stats
                stats.prompt_tokens += prefixes.queries
                stats.cached_tokens += prefixes.hits
                stats.recomputed_tokens += prefixes.preempted_queries - prefixes.preempted_hits
            if iteration_stats is not None:
                stats.preempted += iteration_stats.num_preempted_reqs
            if mm_cache_stats is not None:
                stats.pictures += mm_cache_stats.queries
                stats.pictures_known += mm_cache_stats.hits

        def log_engine_initialized(self) -> None:
            return

    return Counter
