"""Plans replicas, tensor parallelism and parallel requests for a model on given GPUs.

The arithmetic: a replica has `tensor_parallel` GPUs, of whose memory vLLM takes 90 %. Weights are spread over them,
each GPU keeps a few gigabytes for activations and CUDA graphs, the rest holds keys and values: so many tokens, and so
many requests of the full context. The smallest tensor parallelism that holds two queries at once is taken, and as many
replicas as there are GPUs for: more replicas serve more tokens a second than fewer wide ones. Only widths over which
vLLM can spread the heads of the model are considered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from deployments.sizing.model_shape import ModelShape
from tts.domain.value import Value
from tts.errors import ConfigError

_MEMORY_SHARE = 0.9  # vLLM's own default of gpu_memory_utilization
# GB a GPU for activations, CUDA graphs and the vision encoder's largest picture. Hand-set on 2026-11-23: vLLM reports 2
# to 4 GB for 7B to 30B models with 2 megapixels; to be measured once a GPU is there.
_RESERVE_GB = 4.0
_MAX_RUNNING = 64
_MIN_REQUESTS = 2
_QUERIES_AT_ONCE = 2
_TENSOR_PARALLEL_WIDTHS = (1, 2, 4, 8)


class Gpus(Value):
    """GPUs of one machine, all alike; `memory_gb` is that of one, in units of 10^9 bytes."""

    count: Annotated[int, Field(ge=1, le=64)]
    memory_gb: Annotated[float, Field(gt=0)]

    @classmethod
    def parse(cls, text: str, memory_gb: float | None) -> Gpus:
        """`8x80` or `8`, which needs `memory_gb` from elsewhere. Raises ConfigError."""
        found = re.fullmatch(r"(\d{1,2})(?:x(\d{1,4}(?:\.\d+)?))?", text.strip())
        if found is None or int(found[1]) < 1:
            raise ConfigError(f"--gpus {text!r} is neither a number nor COUNTxGB, such as 8x80")
        memory = float(found[2]) if found[2] else memory_gb
        if memory is None:
            raise ConfigError(
                f"no GPU was found here to measure: state the memory of each in GB, such as --gpus {found[1]}x80"
            )
        return cls(count=int(found[1]), memory_gb=memory)


class GpuPlan(Value):
    """What to serve: `requests` is how many of the full context one replica holds in its KV memory.

    `weights` is set when their size is an estimate: how large, and from what.
    """

    gpus: Gpus
    tensor_parallel: int
    replicas: int
    fp8: bool
    context_tokens: int
    kv_gb: float
    requests: int
    max_running: int
    weights: str = ""

    def lines(self) -> tuple[str, ...]:
        """The plan for people."""
        weights = "weights in FP8, " if self.fp8 else ""
        idle = self.gpus.count - self.tensor_parallel * self.replicas
        replicas, each = _count_text(self.replicas, "replica"), _count_text(self.tensor_parallel, "GPU")
        return (
            f"{self.gpus.count} x {self.gpus.memory_gb:g} GB: {replicas} of {each}"
            + (f" ({_count_text(idle, 'GPU')} idle)" if idle else ""),
            f"{weights}{self.kv_gb:.1f} GB for keys and values a replica: "
            f"{self.requests} requests of {self.context_tokens} tokens, {self.max_running} run side by side",
            *([self.weights] if self.weights else []),
        )


def _count_text(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def plan_gpus(shape: ModelShape, gpus: Gpus, *, context_tokens: int, n_parallel: int = 4, fp8: bool = False) -> GpuPlan:
    """The plan for a model of this shape.

    Raises:
        ConfigError: when no replica would hold two requests of the context; it says what would fit.
    """
    loaded = shape.in_fp8() if fp8 else shape
    plans = [_make_plan(loaded, gpus, width, context_tokens, fp8=fp8) for width in _possible_widths(shape, gpus)]
    possible = [plan for plan in plans if plan.requests >= _MIN_REQUESTS]
    if not possible:
        raise ConfigError(_refusal_text(shape, gpus, context_tokens, fp8=fp8))
    roomy = [plan for plan in possible if plan.requests >= _QUERIES_AT_ONCE * n_parallel]
    return roomy[0] if roomy else possible[-1]


def _possible_widths(shape: ModelShape, gpus: Gpus) -> list[int]:
    """Over how many GPUs a replica may be spread, the fewest first."""
    return [width for width in _TENSOR_PARALLEL_WIDTHS if width <= gpus.count and shape.divides_among(width)]


def _make_plan(shape: ModelShape, gpus: Gpus, width: int, context_tokens: int, *, fp8: bool) -> GpuPlan:
    kv_gb = width * (gpus.memory_gb * _MEMORY_SHARE - _RESERVE_GB) - shape.weights_gb
    requests = max(0, int(kv_gb * 1e9 / (shape.kv_bytes_among(width) * context_tokens)))
    return GpuPlan(
        gpus=gpus,
        tensor_parallel=width,
        replicas=gpus.count // width,
        fp8=fp8,
        context_tokens=context_tokens,
        kv_gb=max(0.0, round(kv_gb, 1)),
        requests=requests,
        max_running=min(_MAX_RUNNING, max(1, requests)),
        weights=f"{shape.weights_gb:g} GB of weights, {shape.estimate}" if shape.estimate else "",
    )


def _refusal_text(shape: ModelShape, gpus: Gpus, context_tokens: int, *, fp8: bool) -> str:
    """Why it does not fit, and the changes that would make it fit, the least first."""
    ways: list[str] = []
    widest = max(_possible_widths(shape, gpus))
    if not fp8 and _make_plan(shape.in_fp8(), gpus, widest, context_tokens, fp8=True).requests >= _MIN_REQUESTS:
        ways.append(f"FP8 weights on {_count_text(widest, 'GPU')} (--fp8)")
    room = _make_plan(shape, gpus, widest, 1, fp8=fp8).requests // _MIN_REQUESTS
    if room >= 2048:
        ways.append(f"a context of {room // 1024 * 1024} tokens (engine.max_model_len)")
    ways += _larger_gpu_choices(shape, gpus, context_tokens, fp8=fp8)
    what = " or ".join(ways) or "a smaller model"
    size = f"{shape.weights_gb:g} GB of weights"
    guess = f" ({shape.estimate})" if shape.estimate else ""
    return (
        f"{size}{guess} leave no room for two requests of {context_tokens} tokens on "
        f"{gpus.count} x {gpus.memory_gb:g} GB{_ruled_out_widths(shape, gpus)}; what would fit: {what}"
    )


def _ruled_out_widths(shape: ModelShape, gpus: Gpus) -> str:
    """Which widths the heads rule out on these GPUs, and why; empty for none."""
    out = [str(width) for width in _TENSOR_PARALLEL_WIDTHS if width <= gpus.count and not shape.divides_among(width)]
    if not out:
        return ""
    heads = f"{shape.heads} attention heads with " if shape.heads else ""
    return f" (tensor parallel {' and '.join(out)}: {heads}{shape.kv_heads} for keys and values cannot be spread so)"


def _larger_gpu_choices(shape: ModelShape, gpus: Gpus, context_tokens: int, *, fp8: bool) -> Iterator[str]:
    """The fewest further GPUs that hold it, and those that hold it in FP8 when they are fewer."""
    fewest = max(_TENSOR_PARALLEL_WIDTHS) + 1
    for quantised in (True,) if fp8 else (False, True):
        loaded = shape.in_fp8() if quantised else shape
        for width in (w for w in _TENSOR_PARALLEL_WIDTHS if gpus.count < w < fewest and shape.divides_among(w)):
            more = Gpus(count=width, memory_gb=gpus.memory_gb)
            if _make_plan(loaded, more, width, context_tokens, fp8=quantised).requests >= _MIN_REQUESTS:
                with_fp8 = "" if quantised == fp8 else " and --fp8"
                yield f"{width} such GPUs (tensor parallel {width}){with_fp8}"
                fewest = width
                break
