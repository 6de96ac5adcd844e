"""`geotts bench stored`: what a request takes in Redis when it has ended, and once its log is packed.

The engine is scripted; the photo is a shipped sample, so the bytes of a request are those of a small photo. Runs with
and without a blob store, on a Redis of its own, one gateway in this process.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
from pathlib import Path

import click
import httpx
from redis.asyncio import Redis

from deployments.config import AppArgs
from deployments.gateway.gateway import Gateway
from deployments.runstore import RunStore
from deployments.runstore.blobs import FolderBlobs
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.with_blobs import RunStoreWithBlobs
from deployments.wiring.local import local_ports
from geotts_benchmarks.gateway_on_socket import serve_on_socket
from geotts_benchmarks.harness import Result, locate, print_progress, report
from geotts_benchmarks.run_stores.failing_stores import Server
from tts.config import RoutingConfig, ScriptedEngine
from tts.errors import FatalError
from tts.package_files import sample_photos

_RETENTION_S = 3600.0
_DAY_S = 86_400
_REQUESTS_PER_S = 50  # requests a second that must be affordable for a day


@click.command()
@click.option(
    "--requests", "count", type=click.IntRange(1), default=40, show_default=True, help="Requests in each run."
)
@click.option("--tokens", type=click.IntRange(1), default=300, show_default=True, help="Tokens in each turn.")
@click.option("--quick", is_flag=True, help="Send 8 requests in each run.")
def command(count: int, tokens: int, quick: bool) -> None:
    """Locate sample photos with 4 rollouts of 3 turns, followed as they come, and measure each key of each request."""
    report("stored", lambda: asyncio.run(measure(8 if quick else count, tokens)))


async def measure(count: int, tokens: int) -> Result:
    """KiB of a request at its end and packed, with its bytes in Redis and in a blob store; GB a day at 50 a second."""
    if shutil.which("redis-server") is None:
        raise FatalError("redis-server is not installed")
    found: Result = {"requests": count}
    for name in ("in_redis", "in_blobs"):
        found[name] = await _measure_store(count, tokens, blobs=name == "in_blobs")
        print_progress(f"{name}: {found[name]}")
    kept_kib = found["in_blobs"]["packed_kib"]
    found["redis_gb_a_day"] = round(kept_kib * 1024 * _REQUESTS_PER_S * _DAY_S / 1e9, 1)
    found["blob_gb_a_day"] = round(found["in_blobs"]["blob_kib"] * 1024 * _REQUESTS_PER_S * _DAY_S / 1e9, 1)
    return found


async def _measure_store(count: int, tokens: int, *, blobs: bool) -> Result:
    args = AppArgs(
        engine=ScriptedEngine(turns=3, tokens_per_turn=tokens, turn_s=2.0), routing=RoutingConfig(method="fixed")
    )
    with tempfile.TemporaryDirectory() as name:
        folder, server = Path(name), Server(Path(name))
        await server.start()
        store: RunStore = RedisRunStore(server.url, _RETENTION_S, packed_after_s=0)
        if blobs:
            store = RunStoreWithBlobs(store, FolderBlobs(folder / "blobs"), _RETENTION_S)
        gateway = Gateway(args, local_ports(args), store=store)
        try:
            async with serve_on_socket(gateway, args) as (host, port), Redis.from_url(server.url) as redis:
                ids = await _ask_all(f"http://{host}:{port}", count)
                ended = [await _size_kib(redis, one) for one in ids]
                await store.purge()
                packed = [await _size_kib(redis, one) for one in ids]
        finally:
            await gateway.aclose()
            await server.stop()
        stored = await asyncio.to_thread(_bytes_in, folder / "blobs")
    return {
        "ended_kib": round(statistics.mean(ended), 1),
        "packed_kib": round(statistics.mean(packed), 1),
        "blob_kib": round(stored / count / 1024, 1),
    }


async def _ask_all(url: str, count: int) -> list[str]:
    """The ids of requests that were answered, eight at once."""
    photos = [path.read_bytes() for path in sample_photos().values()]
    limit = asyncio.Semaphore(8)

    async def ask_one(number: int) -> str:
        async with limit:
            located = await locate(http, url, photos[number % len(photos)], n_parallel=4, depth="deep", stop="none")
        if located.failure:
            raise FatalError(f"a request failed: {located.failure}")
        return str(located.events[0].model_dump()["request_id"])

    async with httpx.AsyncClient(timeout=120.0) as http:
        return list(await asyncio.gather(*(ask_one(i) for i in range(count))))


async def _size_kib(redis: Redis, request_id: str) -> float:
    """What the keys of a request take in Redis, as it reckons itself."""
    keys = [key async for key in redis.scan_iter(match=f"*:run:{request_id}:*", count=1000)]
    sizes = [await redis.memory_usage(key, samples=0) or 0 for key in keys]
    return sum(sizes) / 1024


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*/*/*"))
