"""`geotts bench faults`: Rollout replicas killed under load; is every request answered, and how soon does it go on?"""

from __future__ import annotations

import asyncio
import random
import time

import click
import psutil

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.harness import Result, client, free_port, gone_is_fine, percentile, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.replicas.autoscale import replicas
from geotts_benchmarks.replicas.load import Load
from tts.config import RoutingConfig, ScriptedEngine

_REPLICAS = 2
_CLIENTS = 3
_REPLACED_WITHIN_S = 150.0  # a replica takes a minute to start on a machine that is busy


@click.command()
@click.option("--kills", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--quick", is_flag=True, help="Kill three replicas.")
def command(kills: int, quick: bool) -> None:
    """Kill one of two Rollout replicas again and again, as soon as the last one is replaced."""
    report("faults", lambda: measure(3 if quick else kills))


def fault_args(port: int) -> AppArgs:
    """The configuration that is measured: two Rollout replicas, and no rollout is stopped early."""
    return AppArgs(
        engine=ScriptedEngine(turns=4, tokens_per_turn=16, turn_s=0.5),
        routing=RoutingConfig(method="fixed", stop="none", stragglers="wait"),
        gateway=GatewayConfig(port=port),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=_REPLICAS)),
    )


def measure(kills: int) -> Result:
    """Start a service of its own, kill `kills` replicas one after the other, and return the figures of `run`."""
    with serve_configuration(fault_args(free_port())) as service:
        return asyncio.run(run(service.url, kills))


async def run(url: str, kills: int) -> Result:
    """Kill, wait until there are two replicas again, and so on, while clients keep asking."""
    load = Load(url, plain_photo(320, 240), {"n_parallel": 4, "depth": "deep"})
    recovered: list[float] = []
    replaced: list[float] = []
    rng = random.Random(5)
    async with client() as http:
        clients = await load.keep(http, _CLIENTS)
        await asyncio.sleep(1.0)
        for i in range(kills):
            killed = time.perf_counter()
            before = len(load.resumed_at)
            kill_replica(rng)
            replaced.append(await _time_until_whole())
            recovered += [at - killed for at in load.resumed_at[before:]]
            print_progress(
                f"kill {i + 1}: {len(load.resumed_at) - before} rollouts went on, replaced after {replaced[-1]:.1f} s"
            )
            await asyncio.sleep(rng.uniform(0.2, 1.0))
        await load.finish(clients)
        last = await load.send_request(http, seed=0)
    return {
        "kills": kills,
        "requests": len(load.answered),
        "failed": len(load.failures),
        "lost_rollouts": load.lost_rollouts,
        "resumed": len(load.resumed_at),
        "recovery_p50_s": round(percentile(recovered, 0.5), 2),
        "recovery_worst_s": round(max(recovered, default=0.0), 2),
        "replaced_worst_s": round(max(replaced), 2),
        "next_request_works": last,
        "failures": sorted(set(load.failures))[:3],
    }


def kill_replica(rng: random.Random) -> None:
    """SIGKILL one of the Rollout replicas of the private cluster this process started."""
    found = replicas_of("Rollout")
    if not found:
        raise click.ClickException("there is no Rollout replica to kill")
    rng.choice(found).kill()


def replicas_of(deployment: str) -> list[psutil.Process]:
    """The processes of a deployment's replicas in the private cluster this process started, by process number."""
    name = f"ServeReplica:geotts:{deployment}"
    found = []
    for process in psutil.Process().children(recursive=True):
        with gone_is_fine():
            found += [process] if any(name in part for part in process.cmdline()) else []
    return sorted(found, key=lambda process: process.pid)


async def _time_until_whole() -> float:
    """Seconds until all replicas run again. The controller needs a moment to see that one is gone."""
    started = time.perf_counter()
    missed = False
    while time.perf_counter() - started < _REPLACED_WITHIN_S:
        count = await replicas()
        missed = missed or count < _REPLICAS
        if missed and count == _REPLICAS:
            break
        await asyncio.sleep(0.1)
    return time.perf_counter() - started
