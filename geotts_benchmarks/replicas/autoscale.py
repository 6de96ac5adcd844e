"""`geotts bench autoscale`: a step in load, from one Rollout replica to three and back."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import click
from ray import serve

from deployments.config import AppArgs, AutoscaleConfig, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import APP_NAME, serve_configuration
from deployments.seam.ray import RUNNING
from geotts_benchmarks.harness import Result, client, free_port, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.replicas.load import Load
from tts.config import RoutingConfig, ScriptedEngine

_MAX_REPLICAS = 3
_CLIENTS = 6
_UP_WITHIN_S = 150.0  # a replica takes a minute to start on a machine that is busy
_DOWN_WITHIN_S = 150.0


@click.command()
@click.option("--hold-s", type=click.FloatRange(1, 600), default=20.0, show_default=True, help="Seconds at full load.")
@click.option("--quick", is_flag=True, help="Hold the full load for 5 s.")
def command(hold_s: float, quick: bool) -> None:
    """Twelve generations at once; one replica runs four.

    up_s: seconds until there are three replicas. down_s: seconds after the load until there is one. flaps: how often
    the number of replicas changed its direction, except for the one turn from up to down.
    """
    report("autoscale", lambda: measure(5.0 if quick else hold_s))


def scaling_args(port: int) -> AppArgs:
    """Scripted rollouts of four turns of a second, one to three replicas, delays short enough to watch."""
    auto = AutoscaleConfig(
        min_replicas=1,
        max_replicas=_MAX_REPLICAS,
        target_ongoing=4,
        upscale_delay_s=0.5,
        downscale_delay_s=5.0,
        metrics_interval_s=0.5,
        look_back_s=2.0,
    )
    return AppArgs(
        engine=ScriptedEngine(turns=4, tokens_per_turn=16, turn_s=1.0),
        routing=RoutingConfig(method="fixed", stop="none", stragglers="wait"),
        gateway=GatewayConfig(port=port),
        group_size=2,
        deployments=DeploymentsConfig(rollout=DeploymentConfig(autoscale=auto, drain_s=60)),
    )


def measure(hold_s: float) -> Result:
    """Serve with one to three replicas and measure the step, with `hold_s` seconds at full load."""
    with serve_configuration(scaling_args(free_port())) as service:
        return asyncio.run(step(service.url, hold_s))


async def step(url: str, hold_s: float) -> Result:
    """Load, hold, no load. `flaps` counts changes of direction beyond the one up and the one down."""
    counts: list[int] = []
    load = Load(url, plain_photo(320, 240), {"n_parallel": 2, "depth": "deep"})
    async with client() as http:
        started = time.perf_counter()
        clients = await load.keep(http, _CLIENTS)
        up_s = await _time_to_reach(_MAX_REPLICAS, counts, _UP_WITHIN_S)
        print_progress(
            f"{_MAX_REPLICAS} replicas after {up_s:.1f} s" if up_s else f"never {_MAX_REPLICAS} replicas: {counts[-1]}"
        )
        until = time.perf_counter() + hold_s
        while time.perf_counter() < until:
            counts.append(await replicas())
            await asyncio.sleep(0.25)
        await load.finish(clients)
        loaded_s = time.perf_counter() - started
        down_s = await _time_to_reach(1, counts, _DOWN_WITHIN_S)
        print_progress(f"1 replica {down_s:.1f} s after the load" if down_s else f"still {counts[-1]} replicas")
    return {
        "up_s": round(up_s, 2) if up_s else None,
        "down_s": round(down_s, 2) if down_s else None,
        "flaps": flaps(counts),
        "requests": len(load.answered),
        "failed": len(load.failures),
        "lost_rollouts": load.lost_rollouts,
        "failures": sorted(set(load.failures))[:3],
        "loaded_s": round(loaded_s, 1),
        "most": max(counts),
    }


async def _time_to_reach(wanted: int, counts: list[int], within_s: float) -> float:
    """Seconds until there are that many running replicas; 0 when there never were."""
    started = time.perf_counter()
    while time.perf_counter() - started < within_s:
        counts.append(await replicas())
        if counts[-1] == wanted:
            return max(0.01, time.perf_counter() - started)
        await asyncio.sleep(0.25)
    return 0.0


async def replicas() -> int:
    """Running Rollout replicas."""
    status = await asyncio.to_thread(serve.status)
    states = status.applications[APP_NAME].deployments["Rollout"].replica_states
    return int(states.get(RUNNING, 0))


def flaps(counts: list[int]) -> int:
    """Changes of direction in a series of counts beyond one up and one down."""
    steps = [b - a for a, b in pairwise(counts) if a != b]
    turns = sum((a > 0) != (b > 0) for a, b in pairwise(steps))
    return max(0, turns - 1)
