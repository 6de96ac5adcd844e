"""`geotts bench fanout`: does a request with N rollouts take longer than one with a single rollout?"""

from __future__ import annotations

import asyncio
import time

import click

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.harness import Result, client, free_port, locate, median, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from tts.config import RoutingConfig, ScriptedEngine

_REPLICAS = 2
_TOKENS = 64
_TURN_S = 1.0


@click.command()
@click.option("--n", "n", type=click.IntRange(2, 32), default=8, show_default=True)
@click.option("--turns", type=click.IntRange(1, 16), default=3, show_default=True)
@click.option("--repeats", type=click.IntRange(1, 50), default=5, show_default=True)
@click.option("--quick", is_flag=True, help="Run two repeats.")
def command(n: int, turns: int, repeats: int, quick: bool) -> None:
    """The wall time with N rollouts, divided by the wall time with 1.

    Each turn streams 64 tokens over 1 s and makes one broker call.
    """
    report("fanout", lambda: measure(n, turns, 2 if quick else repeats))


def measure(n: int, turns: int, repeats: int) -> Result:
    """Median wall times in seconds at 1 and at `n` rollouts, and their `ratio`; starts a service of its own."""
    args = AppArgs(
        engine=ScriptedEngine(turns=turns, tokens_per_turn=_TOKENS, turn_s=_TURN_S),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=_REPLICAS)),
    )
    with serve_configuration(args) as service:
        walls = asyncio.run(_run(service.url, n, repeats))
    ratio = median(walls[n]) / median(walls[1])
    return {
        "ratio": round(ratio, 4),
        "wall_1_s": round(median(walls[1]), 3),
        f"wall_{n}_s": round(median(walls[n]), 3),
        "n": n,
        "turns": turns,
        "replicas": _REPLICAS,
    }


async def _run(url: str, n: int, repeats: int) -> dict[int, list[float]]:
    photo = plain_photo()
    walls: dict[int, list[float]] = {1: [], n: []}
    async with client() as http:
        await locate(http, url, photo, n_parallel=n, depth="deep", stop="none")
        for i in range(repeats):
            for count in (1, n):
                started = time.perf_counter()
                found = await locate(http, url, photo, n_parallel=count, depth="deep", stop="none", seed=i)
                if found.failure:
                    raise click.ClickException(found.failure)
                walls[count].append(time.perf_counter() - started)
            print_progress(f"repeat {i + 1}: n=1 {walls[1][-1]:.3f} s, n={n} {walls[n][-1]:.3f} s")
    return walls
