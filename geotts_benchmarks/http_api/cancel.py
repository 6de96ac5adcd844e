"""`geotts bench cancel`: clients that go away leave nothing running."""

from __future__ import annotations

import asyncio
import random
import time

import click
import httpx

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import APP_NAME, serve_configuration
from geotts_benchmarks.harness import Result, client, free_port, locate, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.replicas.replica_probe import Probe
from tts.config import RoutingConfig, ScriptedEngine


@click.command()
@click.option("--disconnects", type=click.IntRange(1, 10000), default=200, show_default=True)
@click.option("--quick", is_flag=True, help="Disconnect 40 times.")
def command(disconnects: int, quick: bool) -> None:
    """Disconnect 5 to 250 ms after the start of the stream; the time until no rollout, tool call or request is left."""
    report("cancel", lambda: measure(40 if quick else disconnects))


def measure(disconnects: int) -> Result:
    """Disconnect that often: milliseconds until nothing was running, and what was still running at the end."""
    args = AppArgs(
        engine=ScriptedEngine(turns=8, tokens_per_turn=64, turn_s=1.0),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
    )
    with serve_configuration(args) as service:
        return asyncio.run(_run(service.url, disconnects))


async def _run(url: str, disconnects: int) -> Result:
    rng = random.Random(7)
    photo = plain_photo(320, 240)
    settle_ms: list[float] = []
    probe = Probe(APP_NAME)
    async with client() as http:
        for i in range(disconnects):
            await _disconnect(http, url, photo, after_s=rng.uniform(0.005, 0.25))
            gone = time.perf_counter()
            idle = await probe.idle_within(3.0)
            settle_ms.append((time.perf_counter() - gone) * 1e3)
            if not idle:
                break
            if i % 50 == 49:
                print_progress(f"{i + 1} disconnects, worst {max(settle_ms):.0f} ms until idle")
        still_running = await probe.running()
        after = await locate(http, url, photo, n_parallel=2, depth="direct")
    return {
        "disconnects": len(settle_ms),
        "left_running": still_running,
        "worst_ms": round(max(settle_ms), 1),
        "median_ms": round(sorted(settle_ms)[len(settle_ms) // 2], 1),
        "next_request_works": not after.failure,
    }


async def _disconnect(http: httpx.AsyncClient, url: str, photo: bytes, *, after_s: float) -> None:
    """Open a stream, wait for its first event, read on for `after_s`, drop the connection."""
    headers = {"Accept": "text/event-stream"}
    data = {"n_parallel": "4", "depth": "deep"}
    async with http.stream("POST", f"{url}/locate", files={"image": photo}, data=data, headers=headers) as response:
        lines = response.aiter_lines()
        await anext(lines)
        try:
            async with asyncio.timeout(after_s):
                async for _ in lines:
                    pass
        except TimeoutError:
            return
