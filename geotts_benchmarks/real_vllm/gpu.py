"""`geotts bench gpu`: rollouts against one plain batch of the same tokens, on a real shape with random weights.

Needs CUDA and the extra `vllm`, no Ray and no download. `--shape tiny-qwen3-vl` runs it on a CPU, to see that it works.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import click

from geotts_benchmarks.harness import Result, print_progress, report
from geotts_benchmarks.real_vllm.engine_runs import a_photo, cpu_options, engine, run_rollouts
from geotts_benchmarks.real_vllm.random_weights import Shape
from tts.aio import closing
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.photo import Photo
from tts.domain.request import RequestContext
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.seam import has_cuda
from tts.ports.model_client import ModelRequest, Sampling


@click.command()
@click.option(
    "--n", "counts", default="1,2,4,8,16", show_default=True, help="Numbers of rollouts, separated by commas."
)
@click.option("--turns", type=click.IntRange(1, 16), default=6, show_default=True)
@click.option("--tokens", type=click.IntRange(4, 4096), default=256, show_default=True, help="Tokens in each turn.")
@click.option("--shape", type=click.Choice([str(shape) for shape in Shape]), default=str(Shape.QWEN3_VL_4B))
@click.option("--quick", is_flag=True, help="Run two turns of 64 tokens.")
def command(counts: str, turns: int, tokens: int, shape: str, quick: bool) -> None:
    """Time to answer, tokens a second, cache hits, and goodput: the speed compared with a plain batch of the
    same number of tokens.
    """
    numbers = [int(count) for count in counts.split(",")]
    report("gpu", lambda: measure(numbers, 2 if quick else turns, 64 if quick else tokens, Shape(shape)))


def measure(counts: list[int], turns: int, tokens: int, shape: Shape) -> Result:
    """Figures by number of rollouts; `skipped` says why there are none (no CUDA device, no vLLM)."""
    tiny = shape is not Shape.QWEN3_VL_4B
    if not tiny and not has_cuda():
        return {"by_n": {}, "skipped": "there is no CUDA device, or vLLM is not installed"}
    options = cpu_options() if tiny else {"max_model_len": 32_768, "max_running": 64}
    with engine(shape, **options) as model:
        print_progress("the engine is ready")
        return asyncio.run(_run(model, counts, turns, tokens))


async def _run(model: VllmModel, counts: list[int], turns: int, tokens: int) -> Result:
    await run_rollouts(model, n=max(counts), turns=2, tokens=16, photo=a_photo(512, 384), name="warm")
    by_n: dict[str, Any] = {}
    for n in counts:
        photo = a_photo(1280 + 32 * n, 960)
        before = replace(model.stats)
        measured = await run_rollouts(model, n=n, turns=turns, tokens=tokens, photo=photo, name=f"n{n}")
        stats = replace(model.stats)
        pictures, known = stats.pictures - before.pictures, stats.pictures_known - before.pictures_known
        usage = measured.usage
        rate = usage.completion_tokens / measured.wall_s
        plain = await _measure_batch(model, n, usage.completion_tokens // n, a_photo(1296 + 32 * n, 960))
        by_n[str(n)] = {
            "answer_s": round(measured.wall_s, 3),
            "tokens_per_s": round(rate, 1),
            "prefix_hit": round(usage.cached_tokens / usage.prompt_tokens, 4),
            "encoder_hit": round(known / pictures, 4) if pictures else 0.0,
            "preempted": stats.preempted - before.preempted,
            "preempted_tokens": usage.preempted_tokens,
            "recomputed_tokens": stats.recomputed_tokens - before.recomputed_tokens,
            "goodput": round(rate / plain, 4),
            "plain_tokens_per_s": round(plain, 1),
        }
        print_progress(f"n={n}: {by_n[str(n)]}")
    return {"by_n": by_n, "turns": turns, "tokens_a_turn": tokens}


async def _measure_batch(model: VllmModel, n: int, tokens: int, photo: Photo) -> float:
    """Tokens a second of N generations of the same photo begun at once, each as long as a whole rollout."""
    messages = GenericDialect().opening(Task(photos=(photo,)))

    async def generate_one(i: int) -> int:
        request = ModelRequest(
            context=RequestContext(id=f"plain{n}", remaining_s=3600.0),
            session_id=f"plain{n}/{i}",
            messages=messages,
            sampling=Sampling(temperature=0.7, seed=i, max_tokens=tokens),
            photos=(photo,),
        )
        written = 0
        async with closing(model.generate(request)) as deltas:
            async for delta in deltas:
                written += len(delta.token_ids)
        return written

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(generate_one(i)) for i in range(n)]
    return sum(task.result() for task in tasks) / (time.perf_counter() - started)
