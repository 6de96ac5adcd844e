"""`geotts bench draws`: what answers cost that are drawn again from the same prompt, on a real vLLM.

Two cases: the answer is written in the last turn that the limits allow, so that it is forked while it is written; and a
rollout answers before that, so that the draws follow the answer.
"""

from __future__ import annotations

import asyncio

import click
import numpy as np

from geotts_benchmarks.harness import Result, median, print_progress, report
from geotts_benchmarks.real_vllm.engine_runs import GroupMeasurement, a_photo, cpu_options, engine, run_rollouts
from geotts_benchmarks.real_vllm.random_weights import Shape
from tts.eval.metrics.intervals import bootstrap_median
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.seam import has_cuda, is_installed

_SPARE_TURNS = {"last_turn": 0, "earlier": 1}  # turns that the limits allow after the answer


@click.command()
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True)
@click.option("--turns", type=click.IntRange(1, 16), default=4, show_default=True)
@click.option("--tokens", type=click.IntRange(4, 4096), default=48, show_default=True, help="Tokens in each turn.")
@click.option("--draws", type=click.IntRange(2, 16), default=4, show_default=True, help="Draws of each answer.")
@click.option("--repeats", type=click.IntRange(1, 15), default=7, show_default=True)
@click.option(
    "--shape",
    type=click.Choice([str(shape) for shape in Shape]),
    default=str(Shape.TINY_QWEN3_VL),
    show_default=True,
    help="Of the random model. qwen3-vl-4b needs CUDA.",
)
@click.option("--quick", is_flag=True, help="Run one repeat.")
def command(n: int, turns: int, tokens: int, draws: int, repeats: int, shape: str, quick: bool) -> None:
    """Rollouts that zoom, on vLLM with a random model: with answer draws and without."""
    report("draws", lambda: measure(n, turns, tokens, draws, 1 if quick else repeats, Shape(shape)))


def measure(n: int, turns: int, tokens: int, draws: int, repeats: int, shape: Shape = Shape.TINY_QWEN3_VL) -> Result:
    """The figures of `compare` on a random model; null and a reason where vLLM or CUDA is missing."""
    missing = "" if is_installed() else "vLLM is not installed: run it with the Python of `make vllm-env`"
    if not missing and shape is Shape.QWEN3_VL_4B and not has_cuda():
        missing = "there is no CUDA device"
    if missing:
        return {"cached_share": None, "wall_ratio": None, "skipped": missing}
    running = {"max_running": max(16, n * draws)}
    options = {"max_model_len": 32_768} if shape is Shape.QWEN3_VL_4B else cpu_options()
    with engine(shape, **(options | running)) as model:
        print_progress("the engine is ready")
        return asyncio.run(compare(model, n=n, turns=turns, tokens=tokens, draws=draws, repeats=repeats))


async def compare(model: VllmModel, *, n: int, turns: int, tokens: int, draws: int, repeats: int) -> Result:
    """Groups without and with draws in turn, each about a photo of its own that is as long for the model."""
    sizes = iter((640 + wide, 480 + high) for wide in range(8) for high in range(8))
    made: list[GroupMeasurement] = []
    ratios: dict[str, list[float]] = {case: [] for case in _SPARE_TURNS}
    walls: dict[str, list[float]] = {case: [] for case in ("without", *_SPARE_TURNS)}

    async def group(name: str, drawn: int, spare_turns: int) -> GroupMeasurement:
        photo = a_photo(*next(sizes))
        return await run_rollouts(
            model, n=n, turns=turns, tokens=tokens, photo=photo, name=name, draws=drawn, spare_turns=spare_turns
        )

    await group("warm", draws, 0)
    for i in range(repeats):
        without = await group(f"without{i}", 1, 0)
        walls["without"].append(without.wall_s)
        for case, spare in _SPARE_TURNS.items():
            drawn = await group(f"{case}{i}", draws, spare)
            made.append(drawn)
            walls[case].append(drawn.wall_s)
            ratios[case].append(drawn.wall_s / without.wall_s)
        print_progress(", ".join(f"{case} {values[-1]:.2f} s" for case, values in walls.items()))
    prompts = sum(usage.prompt_tokens for one in made for usage in one.drawn)
    cached = sum(usage.cached_tokens for one in made for usage in one.drawn)
    return {
        "cached_share": round(cached / prompts, 4),
        "wall_ratio": round(median(ratios["last_turn"]), 4),
        "wall_ratio_interval": _median_interval(ratios["last_turn"]),
        "wall_ratio_earlier": round(median(ratios["earlier"]), 4),
        "wall_ratio_earlier_interval": _median_interval(ratios["earlier"]),
        "wall_s": round(median(walls["last_turn"]), 3),
        "without_wall_s": round(median(walls["without"]), 3),
        "drawn_tokens": sum(usage.completion_tokens for one in made for usage in one.drawn),
        "prompt_tokens_of_a_draw": round(prompts / (len(made) * n * (draws - 1))),
        "block_size": model.block_size,
        "n": n,
        "turns": turns,
        "tokens": tokens,
        "draws": draws,
        "repeats": repeats,
    }


def _median_interval(ratios: list[float]) -> list[float]:
    """Of the 95 % interval of their median."""
    found = bootstrap_median(np.array(ratios))
    return [round(found.low, 4), round(found.high, 4)]
