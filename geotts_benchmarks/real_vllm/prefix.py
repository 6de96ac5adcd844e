"""`geotts bench prefix`: how much of what could be cached was, and what sharing it saves."""

from __future__ import annotations

import asyncio

import click

from geotts_benchmarks.harness import Result, median, print_progress, report
from geotts_benchmarks.real_vllm.engine_runs import GroupMeasurement, a_photo, cpu_options, engine, run_rollouts
from geotts_benchmarks.real_vllm.random_weights import Shape
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.seam import is_installed


@click.command()
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True)
@click.option("--turns", type=click.IntRange(1, 16), default=4, show_default=True)
@click.option("--tokens", type=click.IntRange(4, 4096), default=48, show_default=True, help="Tokens in each turn.")
@click.option("--repeats", type=click.IntRange(1, 50), default=3, show_default=True)
@click.option("--quick", is_flag=True, help="Run one repeat.")
def command(n: int, turns: int, tokens: int, repeats: int, quick: bool) -> None:
    """Rollouts that zoom, on vLLM with a tiny random model, compared with the same number of conversations that share
    no prefix."""
    report("prefix", lambda: measure(n, turns, tokens, 1 if quick else repeats))


def measure(n: int, turns: int, tokens: int, repeats: int) -> Result:
    """The figures of `compare` on a tiny random model; null and a reason where vLLM is not installed."""
    if not is_installed():
        reason = "vLLM is not installed: run it with the Python of `make vllm-env`"
        return {"cached_share_of_ideal": None, "wall_ratio_vs_cold": None, "skipped": reason}
    with engine(Shape.TINY_QWEN3_VL, **cpu_options()) as model:
        print_progress("the engine is ready")
        return asyncio.run(compare(model, n=n, turns=turns, tokens=tokens, repeats=repeats))


async def compare(model: VllmModel, *, n: int, turns: int, tokens: int, repeats: int) -> Result:
    """Shared and cold groups in turn, each about a photo of its own."""
    shares: list[float] = []
    walls: list[float] = []
    colds: list[float] = []
    cold_model = model.cold()
    await run_rollouts(model, n=1, turns=turns, tokens=tokens, photo=a_photo(320, 240), name="warm")
    for i in range(repeats):
        photo = a_photo(640 + 32 * i, 480)
        shared = await run_rollouts(model, n=n, turns=turns, tokens=tokens, photo=photo, name=f"shared{i}")
        cold = await run_rollouts(cold_model, n=n, turns=turns, tokens=tokens, photo=photo, name=f"cold{i}")
        shares.append(shared.usage.cached_tokens / ideal_cached(shared, model.block_size))
        walls.append(shared.wall_s)
        colds.append(cold.wall_s)
        print_progress(f"{shares[-1]:.3f} of the ideal; {walls[-1]:.2f} s shared, {colds[-1]:.2f} s cold")
    return {
        "cached_share_of_ideal": round(median(shares), 4),
        "wall_ratio_vs_cold": round(median(walls) / median(colds), 4),
        "wall_s": round(median(walls), 3),
        "cold_wall_s": round(median(colds), 3),
        "block_size": model.block_size,
        "n": n,
        "turns": turns,
    }


def ideal_cached(measured: GroupMeasurement, block: int) -> int:
    """Prompt tokens that were computed before, in whole blocks: all but the leader's first prompt, and what is new."""
    seen: dict[str, int] = {}
    first = measured.turns[0].usage.prompt_tokens
    ideal = 0
    for i, turn in enumerate(measured.turns):
        before = seen.get(turn.session_id, 0 if i == 0 else first)
        reusable = min(before, turn.usage.prompt_tokens - 1)
        ideal += reusable // block * block
        # the last generated token was never an input, so it is in no cache
        seen[turn.session_id] = turn.usage.prompt_tokens + turn.usage.completion_tokens - 1
    return ideal
