"""`geotts bench soak`: two services under 70 % of the load that they can carry, for an hour. What grows?

One has scripted rollouts, one the embedded engine, each on a private cluster with SQLite, both on this machine at
once. Besides answers there are cancellations, resumed streams, erasures and refusals.
"""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import click

from geotts_benchmarks.endurance.growth import growth
from geotts_benchmarks.endurance.service import OwnService, own_service
from geotts_benchmarks.endurance.traffic import Traffic
from geotts_benchmarks.harness import Result, median, percentile, print_progress, report
from tts.package_files import sample_photos

_RATE_SHARE = 0.7
_SAMPLE_PERIOD_S = 10.0
_WARM_MINUTES = 10.0
_WARM_SHARE = 2 / 3
_FLAT_OUT_S = 20.0
_FLAT_OUT_CLIENTS = 4
_RETENTION_S = 120.0  # so short that erasing has caught up long before the first figure counts
_ENGINES: dict[str, dict[str, Any]] = {
    "scripted": {"name": "scripted", "turns": 3, "tokens_per_turn": 64, "turn_s": 0.4},
    "clues": {"name": "clues"},
}
_COUNTED_VALUES = ("memory_mb", "handles", "tasks", "store_mb")


@click.command()
@click.option("--minutes", type=click.FloatRange(0.5, 24 * 60), default=60.0, show_default=True)
@click.option("--quick", is_flag=True, help="Run for two minutes. This is too short to measure growth.")
def command(minutes: float, quick: bool) -> None:
    """Steady mixed traffic; memory, handles, tasks, stores and the lag of the loop over time.

    growth_percent: growth from the tenth minute to the end, with its 95 % interval. In a run of less than 15
    minutes, it begins after two thirds of the time. failed: requests that did not end as they should.
    """
    report("soak", lambda: measure(2.0 if quick else minutes))


def measure(minutes: float) -> Result:
    """Start both services, calibrate the load, keep it up for `minutes`, and return the figures."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        services = {
            engine: stack.enter_context(own_service(Path(name) / engine, _make_args(settings)))
            for engine, settings in _ENGINES.items()
        }
        return asyncio.run(_run(services, minutes))


def _make_args(engine: dict[str, Any]) -> dict[str, Any]:
    return {"engine": engine, "gateway": {"retention_s": _RETENTION_S}}


async def _run(services: dict[str, OwnService], minutes: float) -> Result:
    photos = [path.read_bytes() for path in sample_photos().values()]
    traffic = {
        engine: Traffic(service.url, photos, parallel=2, rng=random.Random(number))
        for number, (engine, service) in enumerate(services.items())
    }
    rates = dict(zip(traffic, await asyncio.gather(*map(_full_rate, traffic.values())), strict=True))
    print_progress(
        f"together they answer {', '.join(f'{rate:.2f} a second ({engine})' for engine, rate in rates.items())}"
    )
    async with AsyncExitStack() as stack:
        for engine, one in traffic.items():
            await stack.enter_async_context(one.steady(_RATE_SHARE * rates[engine]))
        samples = await _watch(services, minutes)
    warm_s = 60 * min(_WARM_MINUTES, _WARM_SHARE * minutes)
    return {
        "minutes": minutes,
        "failed": sum(one.failures.total() for one in traffic.values()),
        "growth_percent": max(growth(*_series(samples[engine], "memory_mb", warm_s)).percent for engine in services),
        **{engine: _figures(traffic[engine], rates[engine], samples[engine], warm_s) for engine in services},
    }


async def _full_rate(traffic: Traffic) -> float:
    rate = await traffic.measure_rate(_FLAT_OUT_CLIENTS, _FLAT_OUT_S)
    return max(rate, 1 / _FLAT_OUT_S)


async def _watch(services: dict[str, OwnService], minutes: float) -> dict[str, list[dict[str, float]]]:
    """A sample of each service every ten seconds; `at_s` since the beginning."""
    samples: dict[str, list[dict[str, float]]] = {engine: [] for engine in services}
    started = time.monotonic()
    for number in range(math.ceil(60 * minutes / _SAMPLE_PERIOD_S)):
        await asyncio.sleep(max(0.0, started + (number + 1) * _SAMPLE_PERIOD_S - time.monotonic()))
        for engine, service in services.items():
            at_s = time.monotonic() - started
            samples[engine].append({"at_s": at_s, **await asyncio.to_thread(service.sample)})
        if number % 6 == 5:
            print_progress(
                f"{(number + 1) / 6:.0f} min: " + "; ".join(f"{e} {_sample_text(s[-1])}" for e, s in samples.items())
            )
    return samples


def _sample_text(sample: dict[str, float]) -> str:
    return ", ".join(f"{name} {sample[name]:.0f}" for name in (*_COUNTED_VALUES, "loop_lag_ms"))


def _series(samples: Sequence[dict[str, float]], name: str, after_s: float) -> tuple[list[float], list[float]]:
    kept = [one for one in samples if one["at_s"] >= after_s]
    return [one["at_s"] for one in kept], [one.get(name, 0.0) for one in kept]


def _figures(traffic: Traffic, rate: float, samples: Sequence[dict[str, float]], warm_s: float) -> Result:
    lags = [one["loop_lag_ms"] for one in samples]
    found: Result = {
        "requests": traffic.done.total() + traffic.failures.total(),
        "failed": traffic.failures.total(),
        "per_s": round(_RATE_SHARE * rate, 2),
        "loop_lag_p50_ms": round(median(lags), 1),
        "loop_lag_p95_ms": round(percentile(lags, 0.95), 1),
        "done": dict(traffic.done),
        "failures": dict(traffic.failures.most_common(5)),
    }
    names = [name for name in samples[0] if name.startswith("memory_") or name in _COUNTED_VALUES]
    for name in names:
        at_s, values = _series(samples, name, warm_s)
        found[name] = {
            "begin": round(samples[0][name], 1),
            "warm": round(median(values[:6]), 1),
            "end": round(median(values[-6:]), 1),
            **growth(at_s, values).row(),
        }
    return found
