"""`geotts bench overhead`: what the loop and the streaming cost beyond the engine's own time."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import click
import httpx

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.harness import Result, client, free_port, locate, median, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.service_time.http_turn_cost import per_turn_ms
from tts.config import RoutingConfig, ScriptedEngine

_N = 8
_TURNS = 3
_TOKENS = 64
_TURN_S = 1.0
_FIELDS: dict[str, Any] = {"n_parallel": _N, "depth": "deep"}


@click.command()
@click.option("--repeats", type=click.IntRange(1, 50), default=5, show_default=True)
@click.option("--quick", is_flag=True, help="Run two repeats.")
def command(repeats: int, quick: bool) -> None:
    """Eight rollouts that write 64 tokens a second each: followed as a stream, and fetched as one JSON reply."""
    report("overhead", lambda: measure(2 if quick else repeats))


def measure(repeats: int) -> Result:
    """What a turn over HTTP costs in ms, and how much longer a stream takes than one JSON reply, as a share of it."""
    args = AppArgs(
        engine=ScriptedEngine(turns=_TURNS, tokens_per_turn=_TOKENS, turn_s=_TURN_S),
        routing=RoutingConfig(method="fixed", stop="none", stragglers="wait"),
        gateway=GatewayConfig(port=free_port()),
    )
    turn_ms = per_turn_ms(10 * repeats)
    print_progress(f"a turn over HTTP costs {turn_ms:.2f} ms beyond the endpoint's own time")
    with serve_configuration(args) as service:
        return {"per_turn_ms": turn_ms, **asyncio.run(_run(service.url, repeats))}


async def _run(url: str, repeats: int) -> Result:
    photo = plain_photo()
    streamed: list[float] = []
    whole: list[float] = []
    async with client() as http:
        await locate(http, url, photo, **_FIELDS)
        for i in range(repeats):
            found = await locate(http, url, photo, seed=i, **_FIELDS)
            if found.failure:
                raise click.ClickException(found.failure)
            streamed.append(found.total_s)
            whole.append(await _measure_fetch(http, url, photo, seed=i))
            print_progress(f"repeat {i + 1}: {streamed[-1]:.3f} s streamed, {whole[-1]:.3f} s as one reply")
    return {
        "stream_cost": round(median(streamed) / median(whole) - 1.0, 4),
        "streamed_s": round(median(streamed), 3),
        "whole_s": round(median(whole), 3),
        "engine_s": _TURNS * _TURN_S,
        "n": _N,
    }


async def _measure_fetch(http: httpx.AsyncClient, url: str, photo: bytes, *, seed: int) -> float:
    """Seconds until the JSON reply, without a stream."""
    started = time.perf_counter()
    data = {name: str(value) for name, value in (_FIELDS | {"seed": seed}).items()}
    response = await http.post(f"{url}/locate", files={"image": photo}, data=data)
    if response.status_code != httpx.codes.OK:
        raise click.ClickException(f"{response.status_code}: {response.text[:300]}")
    return time.perf_counter() - started
