"""`geotts bench tools`: does the broker make every call once, how fast are cached ones, does it lose any?"""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import click
import orjson

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.wiring.toolbox_assembly import make_tooling
from geotts_benchmarks.harness import Result, free_port, median, print_progress, report
from geotts_benchmarks.library_parts.killed_writer import PROGRAM
from tts.config import ProviderSettings, ToolsConfig
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient
from tts.ports.toolbox import ToolContext, ToolOutcome
from tts.toolkit.broker.open_store import open_store

Call = Callable[[ToolCall, ToolContext], Awaitable[ToolOutcome]]

_ROLLOUTS = 8
_CALLS_PER_ROLLOUT = 40
_SHARED_SHARE = 0.6
_SERVER_DELAY_S = 0.02
_REPLICAS = 2


@click.command()
@click.option("--quick", is_flag=True, help="Run fewer repeats.")
@click.option("--serve/--no-serve", default=True, help="Also measure two Tools replicas on Ray Serve, with Redis.")
def command(quick: bool, serve: bool) -> None:
    """8 rollouts × 40 calls, 60 % shared, against a local provider that counts its calls."""
    report("tools", lambda: measure(repeats=200 if quick else 2000, kills=3 if quick else 10, serve=serve))


def measure(*, repeats: int, kills: int, serve: bool) -> Result:
    """Provider calls over distinct calls, times of cached calls, and writes lost over `kills` killed processes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = asyncio.run(_measure_in_process(folder, repeats))
        print_progress(f"in process: {result}")
        result["lost_after_kill"] = sum(_count_lost(folder / f"kill{i}.sqlite", i) for i in range(kills))
        print_progress(f"lost after kill -9: {result['lost_after_kill']}")
        ratios = [result["ratio_local"]]
        if serve and shutil.which("redis-server") is None:
            print_progress("redis-server is not installed: two replicas are not measured")
        elif serve:
            with _redis_server(folder) as url:
                result.update(_measure_on_serve(url, repeats))
            ratios.append(result["ratio_redis"])
    return {"provider_calls_over_distinct": max(ratios, key=lambda ratio: abs(ratio - 1.0)), **result}


async def _measure_in_process(folder: Path, repeats: int) -> Result:
    async with _counting_server() as (port, asked):
        tooling = make_tooling(_make_args(port, f"sqlite:///{folder}/c.sqlite"), {})
        ratio = await _call_ratio(tooling.toolbox.call, asked)
        call, context = _search_call("cached"), _context("cached")
        await tooling.toolbox.call(call, context)
        single = [await _cached_call_s(tooling.toolbox.call, call, context) for _ in range(repeats)]
        started = time.perf_counter()
        for _ in range(10 * repeats):
            await tooling.toolbox.call(call, context)
        per_s = 10 * repeats / (time.perf_counter() - started)
        await tooling.aclose()
    return {"ratio_local": ratio, "cached_p50_ms": round(1000 * median(single), 4), "cached_per_s": round(per_s)}


def _measure_on_serve(redis_url: str, repeats: int) -> Result:
    from deployments.launch.cluster import served_tools  # noqa: PLC0415  Ray takes seconds to load

    port = free_port()
    # The handle belongs to the loop it is first used in, and is shut down with Serve: the loop has to outlive it.
    with (
        asyncio.Runner() as runner,
        _server_process(port) as asked_url,
        served_tools(_make_args(port, redis_url)) as handle,
    ):

        async def measure_replicas() -> Result:
            async def through(call: ToolCall, context: ToolContext) -> ToolOutcome:
                outcome: ToolOutcome = await handle.call.remote(call, context)
                return outcome

            distinct = await _run_rollouts(through)
            call, context = _search_call("cached"), _context("cached")
            for _ in range(4 * _REPLICAS):
                await through(call, context)
            single = [await _cached_call_s(through, call, context) for _ in range(max(100, repeats // 4))]
            return {
                "ratio_redis": round((await _fetch_count(asked_url)) / (distinct + 1), 4),
                "cached_serve_p50_ms": round(1000 * median(single), 3),
            }

        return runner.run(measure_replicas())


async def _call_ratio(call: Call, asked: list[str]) -> float:
    distinct = await _run_rollouts(call)
    return round(len(asked) / distinct, 4)


async def _run_rollouts(call: Call) -> int:
    """The rollouts side by side, each call after the other; returns how many distinct calls they made."""
    draw = random.Random(7)
    shared = [f"shared place {i}" for i in range(int(_CALLS_PER_ROLLOUT * _SHARED_SHARE))]
    plans = []
    for rollout in range(_ROLLOUTS):
        own = [f"own place {rollout} {i}" for i in range(_CALLS_PER_ROLLOUT - len(shared))]
        plans.append([*shared, *own])
        draw.shuffle(plans[-1])

    async def run(rollout: int) -> None:
        for i, query in enumerate(plans[rollout]):
            written = query.upper() if (rollout + i) % 2 else f"  {query} "
            outcome = await call(_search_call(written), _context(f"loc_{rollout % 3}"))
            if not outcome.result.ok:
                raise click.ClickException(outcome.result.text)

    await asyncio.gather(*(run(rollout) for rollout in range(_ROLLOUTS)))
    return len({query for plan in plans for query in plan})


def _search_call(query: str) -> ToolCall:
    return ToolCall(id="b", name="web_search", arguments={"query": query})


def _context(request_id: str) -> ToolContext:
    return ToolContext(RequestContext(id=request_id, remaining_s=60.0))


async def _cached_call_s(call: Call, asked: ToolCall, context: ToolContext) -> float:
    started = time.perf_counter()
    outcome = await call(asked, context)
    elapsed_s = time.perf_counter() - started
    if not outcome.result.cached:
        raise click.ClickException("a call that should be cached was not")
    return elapsed_s


def _make_args(port: int, cache: str) -> AppArgs:
    settings = ProviderSettings(base_url=f"http://127.0.0.1:{port}", per_s=10_000, burst=10_000, max_running=64)
    return AppArgs(
        tools=ToolsConfig(providers=("offline", "searxng"), settings={"searxng": settings}, cache=cache),
        deployments=DeploymentsConfig(tools=DeploymentConfig(replicas=_REPLICAS, max_ongoing=256)),
    )


@asynccontextmanager
async def _counting_server(port: int = 0) -> AsyncIterator[tuple[int, list[str]]]:
    """A search service on loopback: (its port, the queries it was asked)."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode()
                target = head.split(" ")[1]
                found: Any = {"asked": len(asked)}
                if target.startswith("/search"):
                    asked.append(target)
                    await asyncio.sleep(_SERVER_DELAY_S)
                    found = {"results": [{"url": "https://example.org", "title": target[:40], "content": "a hit"}]}
                body = orjson.dumps(found)
                lines = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(lines.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


async def serve_for_ever(port: int) -> None:
    """The counting service as a process of its own."""
    async with _counting_server(port):
        await asyncio.Event().wait()


@contextmanager
def _server_process(port: int) -> Iterator[str]:
    module = "geotts_benchmarks.library_parts.tools"
    program = f"import asyncio; from {module} import serve_for_ever; asyncio.run(serve_for_ever({port}))"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            asyncio.run(_wait_until_reachable(port))
            yield f"http://127.0.0.1:{port}/count"
        finally:
            process.terminate()


async def _fetch_count(url: str) -> int:
    client = SafeHttpClient(FetchLimits(allow_hosts=frozenset({url.split("/")[2]})))
    count: int = (await client.fetch(url)).json()["asked"]
    await client.aclose()
    return count


async def _wait_until_reachable(port: int) -> None:
    for _ in range(300):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
    raise click.ClickException("a server of the benchmark did not come up")


@contextmanager
def _redis_server(folder: Path) -> Iterator[str]:
    port = free_port()
    command_line = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command_line, stdout=subprocess.DEVNULL) as server:
        try:
            asyncio.run(_wait_until_reachable(port))
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()


def _count_lost(path: Path, seed: int) -> int:
    """Kill a process in the middle of its writes; how many of those it had finished are not there."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        done = [writer.stdout.readline().decode().strip() for _ in range(50 + 37 * seed)]
        writer.send_signal(signal.SIGKILL)
        done += [line.decode().strip() for line in writer.stdout.read().splitlines(keepends=True) if line[-1:] == b"\n"]

    async def count_missing() -> int:
        store = open_store(f"sqlite:///{path}")
        found = [await store.get(key) for key in done if key]
        await store.aclose()
        return sum(entry is None for entry in found)

    return asyncio.run(count_missing())
