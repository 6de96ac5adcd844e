"""`geotts bench tokens`: how many chunks of text a gateway core carries until its events are late.

One gateway process on one core, its clients on the others. More and more requests with four rollouts each talk at once.
A chunk is what a rollout says in 25 ms. `followed`: each request has a client that reads its stream, and the lag is
from the rollout to the client. Not followed: replies come whole, rollouts talk in pieces of ten chunks, and the lag is
from the rollout to the log, without the 50 ms in which the gateway gathers batches for nobody.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click
import httpx
import orjson

from geotts_benchmarks.harness import Result, percentile, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.service_time.token_gateway import CHUNK_S, TALKING_S, UNFOLLOWED_CHUNKS
from tts.errors import FatalError

_ROLLOUTS = 4
_MAX_LAG_MS = 50.0
_GATHERED_MS = 50.0  # deployments/gateway/runner.py: batches of requests that nobody follows
_MAX_BUSY_SHARE = 0.9
_FIRST_REQUESTS = 2
_RATE_FACTOR = 1.4
_MAX_REQUESTS = 200


@click.command()
@click.option("--quick", is_flag=True, help="Start with one request, and double the number each time.")
def command(quick: bool) -> None:
    """Find the load at which the 95th percentile of the lag is above 50 ms, with readers and without."""
    report("tokens", lambda: asyncio.run(measure(2.0 if quick else _RATE_FACTOR)))


async def measure(growth: float) -> Result:
    """Chunks a second of the highest load with a lag of at most 50 ms, and how many requests at once that was."""
    async with _start_gateway() as (url, process):
        await _measure_step(url, process, 1, followed=True)  # warm
        followed, followed_requests, followed_lag = await _find_limit(url, process, growth, followed=True)
        alone, requests, lag = await _find_limit(url, process, growth, followed=False)
    return {
        "chunks_per_s": round(alone),
        "requests": requests,
        "lag_p95_ms": lag,
        "followed_chunks_per_s": round(followed),
        "followed_requests": followed_requests,
        "followed_lag_p95_ms": followed_lag,
        "rollouts": _ROLLOUTS,
        "chunk_ms": CHUNK_S * 1e3,
    }


async def _find_limit(url: str, process: Process, growth: float, *, followed: bool) -> tuple[float, int, float]:
    """(chunks a second, requests at once, lag) of the last step that was not late."""
    best, requests = (0.0, 0, 0.0), _FIRST_REQUESTS
    while requests <= _MAX_REQUESTS:
        chunks, lag_ms = await _measure_step(url, process, requests, followed=followed)
        how = "followed" if followed else "not followed"
        print_progress(f"{requests} requests {how}: {chunks:.0f} chunks a second, p95 {lag_ms:.0f} ms late")
        if lag_ms > _MAX_LAG_MS:
            break
        best, requests = (chunks, requests, lag_ms), max(requests + 1, int(requests * growth))
    return best


async def _measure_step(url: str, process: Process, requests: int, *, followed: bool) -> tuple[float, float]:
    """Chunks a second that arrived, and the 95th percentile of their lag in ms."""
    started, worked = time.monotonic(), time.process_time()
    async with httpx.AsyncClient(timeout=120.0, limits=httpx.Limits(max_connections=None)) as http:
        lags = [
            lag for one in await asyncio.gather(*(_ask(http, url, followed) for _ in range(requests))) for lag in one
        ]
    took_s = max(TALKING_S, time.monotonic() - started)
    figures = await _read_record(process)
    busy = (time.process_time() - worked) / (time.monotonic() - started)
    if busy > _MAX_BUSY_SHARE:  # then it is the readers who are late
        print_progress(
            f"the client itself was busy for {100 * busy:.0f} % of the time: the gateway carries more than this says"
        )
    if followed:
        return len(lags) / took_s, round(percentile(lags, 0.95) * 1e3, 1)
    return figures["texts"] * UNFOLLOWED_CHUNKS / took_s, max(0.0, figures["lag_p95_ms"] - _GATHERED_MS)


async def _ask(http: httpx.AsyncClient, url: str, followed: bool) -> list[float]:
    """Locate a photo; how late each text came, in seconds, where they are followed. Raises FatalError on a refusal."""
    headers = {"Accept": "application/x-ndjson" if followed else "application/json"}
    form = {"n_parallel": str(_ROLLOUTS), "depth": "deep", "stop": "none"}
    async with http.stream("POST", f"{url}/locate", files={"image": _PHOTO}, data=form, headers=headers) as reply:
        if reply.status_code != httpx.codes.OK:
            raise FatalError(f"the gateway replied {reply.status_code}: {(await reply.aread())[:300]!r}")
        return [_delay_s(line) async for line in reply.aiter_lines() if followed and '"type":"text"' in line]


def _delay_s(line: str) -> float:
    return time.monotonic() - float(orjson.loads(line)["text"].split(" ", 1)[0])


async def _read_record(process: Process) -> Result:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n")
    found: Result = orjson.loads(await process.stdout.readline())
    return found


@asynccontextmanager
async def _start_gateway() -> AsyncIterator[tuple[str, Process]]:
    """The gateway on the first core; this process keeps to the others, where there are others."""
    cores = os.sched_getaffinity(0)
    command = (sys.executable, "-m", "geotts_benchmarks.service_time.token_gateway")
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    os.sched_setaffinity(0, (cores - {min(cores)}) or cores)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}", process
    finally:
        os.sched_setaffinity(0, cores)
        process.kill()
        await process.wait()


_PHOTO = plain_photo(64, 64)
