"""How long until generations that nobody wants any more have given their KV cache back: for `scripts/gpu-check`.

python -m geotts_benchmarks.real_vllm.gpu_cancel [--shape tiny-qwen3-vl]

One generation goes on meanwhile, because the engine says how full its cache is in each step only.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import click

from geotts_benchmarks.harness import Result, median, print_progress, report
from geotts_benchmarks.real_vllm.engine_runs import a_photo, cpu_options, engine
from geotts_benchmarks.real_vllm.random_weights import Shape
from tts.aio import cancel_and_wait, closing, spawn
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.request import RequestContext
from tts.inference.vllm.engine import VllmModel
from tts.ports.model_client import ModelRequest, Sampling

_CANCELLED_COUNT = 8
_MAX_WAIT_S = 10.0
_POLL_S = 0.001
_REMAINING_SHARE = 0.1  # of what they took: the generation that goes on takes a little more with each step


@click.command()
@click.option("--shape", type=click.Choice([str(shape) for shape in Shape]), default=str(Shape.QWEN3_VL_4B))
@click.option("--repeats", type=click.IntRange(1, 100), default=5, show_default=True)
def main(shape: str, repeats: int) -> None:
    """Print the milliseconds from the cancellation of eight generations until their memory is free."""
    report("gpu_cancel", lambda: measure(Shape(shape), repeats))


def measure(shape: Shape, repeats: int) -> Result:
    """Median and longest time in ms; `not_freed` counts repeats in which 10 s were too short."""
    options = {"max_model_len": 8192, "max_running": 16} if shape is Shape.QWEN3_VL_4B else cpu_options()
    with engine(shape, **options) as model:
        freed = asyncio.run(_run(model, repeats))
    known = [ms for ms in freed if ms is not None]
    return {
        "cancelled": _CANCELLED_COUNT,
        "freed_ms": round(median(known), 1),
        "freed_worst_ms": round(max(known, default=0.0), 1),
        "not_freed": len(freed) - len(known),
    }


async def _run(model: VllmModel, repeats: int) -> list[float | None]:
    freed = []
    async with _running_generations(model, "stays", 1):
        alone = await _steady_use(model)
        for number in range(repeats):
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(_running_generations(model, f"goes{number}", _CANCELLED_COUNT))
                full = await _steady_use(model)
                cancelled = time.perf_counter()
            took_ms = await _time_until_below(model, alone + _REMAINING_SHARE * max(0.0, full - alone), cancelled)
            alone = await _steady_use(model)
            freed.append(took_ms)
            print_progress(
                f"{full:.4f} of the cache with {_CANCELLED_COUNT} more, {alone:.4f} without, after {took_ms} ms"
            )
    return freed


async def _steady_use(model: VllmModel) -> float:
    """Share of the cache in use, a moment after all generations have begun."""
    await asyncio.sleep(0.5)
    return model.kv_use


async def _time_until_below(model: VllmModel, share: float, since: float) -> float | None:
    while time.perf_counter() - since < _MAX_WAIT_S:
        if model.kv_use <= share and model.running == 1:
            return round((time.perf_counter() - since) * 1e3, 1)
        await asyncio.sleep(_POLL_S)
    return None


@asynccontextmanager
async def _running_generations(model: VllmModel, name: str, count: int) -> AsyncIterator[None]:
    """So many long generations about different photos, until the block ends; the block begins at their first tokens."""
    begun = [asyncio.Event() for _ in range(count)]
    tasks = [spawn(_generate(model, f"{name}/{i}", i, begun[i]), name=f"{name}/{i}") for i in range(count)]
    try:
        for one in begun:
            await one.wait()
        yield
    finally:
        await asyncio.gather(*(cancel_and_wait(task) for task in tasks))


async def _generate(model: VllmModel, session_id: str, number: int, begun: asyncio.Event) -> None:
    """Generations one after the other until this is cancelled: random weights end a text at any moment."""
    photo = a_photo(512 + 32 * number, 512)
    messages = GenericDialect().opening(Task(photos=(photo,)))
    for again in itertools.count():
        request = ModelRequest(
            context=RequestContext(id=session_id.partition("/")[0], remaining_s=3600.0),
            session_id=f"{session_id}/{again}",
            messages=messages,
            sampling=Sampling(temperature=0.7, seed=1000 * number + again, max_tokens=4096),
            photos=(photo,),
        )
        async with closing(model.generate(request)) as deltas:
            async for _ in deltas:
                begun.set()


if __name__ == "__main__":
    main()
