"""`geotts bench api`: whether the service keeps its promises to clients, measured over HTTP."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import time
from contextlib import aclosing

import click
import httpx
import psutil

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.launch.cluster import APP_NAME, serve_configuration
from deployments.wiring.local import local_ports
from geotts_benchmarks.gateway_on_socket import serve_on_socket
from geotts_benchmarks.harness import Result, client, free_port, locate, median, percentile, print_progress, report
from geotts_benchmarks.http_api.api_fuzz import Fuzzer
from geotts_benchmarks.http_api.api_without_ray import inside_args, merge_ms, ssrf_refused, stalled_reader
from geotts_benchmarks.http_api.cutting_network import CuttingTransport
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.replicas.replica_probe import Probe
from tts.api.client import Client
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions

_AT_ONCE = 8
_N_STREAMS = 200


@click.command()
@click.option("--fuzz", type=click.IntRange(100), default=20_000, show_default=True, help="Malformed requests to send.")
@click.option(
    "--cuts", type=click.IntRange(1), default=100, show_default=True, help="Streams to cut at random moments."
)
@click.option("--stall", type=float, default=30.0, show_default=True, help="Seconds for which a client reads nothing.")
@click.option("--quick", is_flag=True, help="Send 1,000 malformed requests, cut 20 streams, stall for 5 s.")
def command(fuzz: int, cuts: int, stall: float, quick: bool) -> None:
    """Time to the first event, merging of events, stalled readers, many streams, malformed requests, resumed streams,
    cancelled requests, forbidden addresses."""
    report("api", lambda: measure(*((1000, 20, 5.0) if quick else (fuzz, cuts, stall))))


def measure(fuzz: int, cuts: int, stall_s: float) -> Result:
    """Figures of a gateway in this process and of the service on Serve. `stall_s`: seconds a reader reads nothing."""
    return {**asyncio.run(_measure_gateway(fuzz, stall_s)), **_measure_service(cuts)}


async def _measure_gateway(fuzz: int, stall_s: float) -> Result:
    for name in ("uvicorn.error", "python_multipart"):
        logging.getLogger(name).setLevel(logging.ERROR)  # a line for each request that cannot be read
    args = inside_args()
    merged = [await merge_ms(args) for _ in range(3)]
    print_progress(f"merging: {median(merged):.3f} ms an event")
    stalled_mb, whole = await stalled_reader(args, stall_s=stall_s)
    print_progress(f"stalled reader: {stalled_mb:.2f} MB, whole: {whole}")
    return {
        "merge_ms_per_event": round(median(merged), 4),
        "stalled_reader_mb": round(stalled_mb, 3),
        "stalled_reader_whole": whole,
        **await _measure_fuzzing(args, fuzz),
    }


async def _measure_fuzzing(args: AppArgs, count: int) -> Result:
    gateway = Gateway(args, local_ports(args))
    async with (
        serve_on_socket(gateway, args) as (host, port),
        httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=30) as http,
    ):
        refused = await ssrf_refused(http)
        print_progress(f"forbidden addresses refused: {refused:.3f}")
        fuzzer = Fuzzer(http, (host, port), seed=7)
        await fuzzer.send(min(500, count))
        tasks, memory = len(asyncio.all_tasks()), _memory_mb()
        for part in range(4):
            await fuzzer.send(count // 4)
            print_progress(f"{(part + 1) * count // 4} requests, {dict(sorted(fuzzer.statuses.items()))}")
        for failure in fuzzer.broken:
            print_progress(f"broken: {failure}")
        await _wait_until_idle(gateway)
        after = await locate(http, "", plain_photo(320, 240), n_parallel=1, depth="direct")
        result = {
            "fuzz_requests": sum(fuzzer.statuses.values()),
            "fuzz_5xx": sum(n for status, n in fuzzer.statuses.items() if status >= 500 and status != 503),
            "fuzz_503": fuzzer.statuses[503],
            "fuzz_tasks_left": max(0, len(asyncio.all_tasks()) - tasks),
            "fuzz_memory_mb": round(_memory_mb() - memory, 1),
            "healthy_after": not after.failure,
            "ssrf_refused": refused,
        }
    await gateway.aclose()
    return result


async def _wait_until_idle(gateway: Gateway) -> None:
    give_up = time.monotonic() + 30
    while gateway.in_flight and time.monotonic() < give_up:  # noqa: ASYNC110  an end that nobody announces
        await asyncio.sleep(0.05)


def _memory_mb() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 2**20


def _measure_service(cuts: int) -> Result:
    args = AppArgs(
        engine=ScriptedEngine(turns=3, tokens_per_turn=32, turn_s=0.4),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port(), max_in_flight=512),
    )
    with serve_configuration(args) as service:
        return asyncio.run(_measure_over_serve(service.url, cuts))


async def _measure_over_serve(url: str, cuts: int) -> Result:
    photo = plain_photo(320, 240)
    first = await _first_events(url, photo)
    print_progress(
        f"first event: p50 {median(first):.0f} ms, p95 {percentile(first, 0.95):.0f} ms at {_AT_ONCE} at once"
    )
    equal = await _resumed_share(url, photo, cuts)
    print_progress(f"resumed equal: {equal:.3f} of {cuts} cuts")
    held = await _count_whole_streams(url, photo)
    print_progress(f"streams held: {held}")
    cancel_s = await _longest_cancel_s(url, photo)
    print_progress(f"cancelled: {cancel_s:.3f} s at worst")
    return {
        "first_event_ms": round(median(first), 1),
        "first_event_p95_ms": round(percentile(first, 0.95), 1),
        "resume_equal": equal,
        "streams_held": held,
        "cancel_s": round(cancel_s, 3),
    }


async def _first_events(url: str, photo: bytes, repetitions: int = 8) -> list[float]:
    """Milliseconds to the first event, eight requests at once."""
    async with client() as http:
        await asyncio.gather(*(locate(http, url, photo, n_parallel=4, depth="deep") for _ in range(_AT_ONCE)))
        found: list[float] = []
        for i in range(repetitions):
            some = (locate(http, url, photo, n_parallel=4, depth="deep", seed=8 * i + k) for k in range(_AT_ONCE))
            found += [located.first_event_s * 1e3 for located in await asyncio.gather(*some)]
    return found


async def _resumed_share(url: str, photo: bytes, cuts: int) -> float:
    """Share of requests, five cuts each, whose resumed stream equals the uncut one read afterwards."""
    rng, equal, requests = random.Random(5), 0, -(-cuts // 5)
    for i in range(requests):
        wire = CuttingTransport([url], cuts=5, seed=rng.randrange(2**31), longest=3000)
        async with Client(url, transport=wire) as cut:
            seen = [event async for event in cut.stream(photo, LocateOptions(n_parallel=2, depth=Depth.DEEP, seed=i))]
            whole = [event async for event in cut.events(seen[0].request_id)] if seen[0].type == "accepted" else []
        equal += seen == whole
    return equal / requests


async def _count_whole_streams(url: str, photo: bytes) -> int:
    """How many of 200 streams that are open at once come to their end whole."""
    async with client() as http:
        streams = (locate(http, url, photo, n_parallel=1, depth="deep", seed=i) for i in range(_N_STREAMS))
        found = await asyncio.gather(*streams)
    for failure in {located.failure for located in found if located.failure}:
        print_progress(failure)
    return sum(not located.failure for located in found)


async def _longest_cancel_s(url: str, photo: bytes, times: int = 10) -> float:
    """Seconds from leaving a stream until nothing of it runs anywhere, at worst."""
    probe, worst = Probe(APP_NAME), 0.0
    async with Client(url) as client:
        for i in range(times):
            options = LocateOptions(n_parallel=8, depth=Depth.DEEP, seed=i)
            async with aclosing(client.stream(photo, options)) as events:
                async for event in events:
                    if event.type == "text":
                        break
                cancelled_at = time.perf_counter()
            idle = await probe.idle_within(5.0)
            worst = max(worst, time.perf_counter() - cancelled_at if idle else 60.0)
    return worst
