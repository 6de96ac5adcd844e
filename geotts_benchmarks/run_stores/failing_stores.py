"""Run stores that fail under the requests of `geotts bench abuse`, in this process: what do readers get?

Redis is flushed, evicts, restarts empty, is full, becomes a read-only replica or freezes; SQLite finds no room. Counted
are streams that end without `error` or an answer before their `done`, and replies of 200 without an answer.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.runstore import RunStore
from deployments.runstore.redis import RedisRunStore
from deployments.runstore.sqlite import SQLiteRunStore
from deployments.wiring.local import local_ports
from geotts_benchmarks.gateway_on_socket import serve_on_socket
from geotts_benchmarks.harness import Result, free_port, print_progress
from geotts_benchmarks.plain_photo import plain_photo
from tts.config import RoutingConfig, ScriptedEngine

_TURN_S = 3.0  # so long that all are at work together, also where six stores are tried at once
_FROZEN_MS = 40_000
_PATIENCE_S = 90.0
Harm = Callable[["Server"], Awaitable[None]]


class Server:
    """A Redis of its own."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its database 0, as `RedisRunStore` takes it."""
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start the process and wait until it answers a ping; TimeoutError after 20 s."""
        command = [
            "redis-server",
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self._folder),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: ASYNC220  returns at once
        async with asyncio.timeout(20), Redis.from_url(self.url) as client:
            while True:
                try:
                    await client.ping()
                except RedisError:
                    await asyncio.sleep(0.05)
                else:
                    return

    async def stop(self) -> None:
        """Kill the process and wait for its end. Does nothing before `start`."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    async def ask(self, *words: object) -> None:
        """Send one Redis command; its reply is ignored."""
        async with Redis.from_url(self.url) as client:
            await client.execute_command(*words)  # type: ignore[no-untyped-call]


async def flushed(server: Server) -> None:
    """Deletes every key of every database."""
    await server.ask("FLUSHALL")


async def evicting(server: Server) -> None:
    """Deletes every log, which Redis does to some keys when it evicts."""
    async with Redis.from_url(server.url) as client:
        for key in await client.keys("*:log"):
            await client.delete(key)


async def restarted_empty(server: Server) -> None:
    """Kills the server and starts it again on the same port; it keeps nothing on disk."""
    await server.stop()
    await server.start()


async def full(server: Server) -> None:
    """Limits its memory to one byte: from then on writes are refused."""
    await server.ask("CONFIG", "SET", "maxmemory", "1")


async def read_only(server: Server) -> None:
    """Makes it a replica of a primary that cannot be reached: it refuses writes and still serves reads."""
    await server.ask("REPLICAOF", "127.0.0.1", "1")


async def frozen(server: Server) -> None:
    """Makes it hold back every command for 40 s, while connections stay open."""
    await server.ask("CLIENT", "PAUSE", _FROZEN_MS, "ALL")


HARMS: dict[str, Harm] = {one.__name__: one for one in (flushed, evicting, restarted_empty, full, read_only, frozen)}
QUICK = ("flushed", "evicting")


async def measure(clients: int, *, quick: bool) -> Result:
    """Every harm at once, each on a store of its own. Redis figures are null where it is not installed."""
    harms = {name: harm for name, harm in HARMS.items() if name in QUICK or not quick}
    with tempfile.TemporaryDirectory() as folder:
        disk = await _full_disk(Path(folder), clients)
        if shutil.which("redis-server") is None:
            print_progress("redis-server is not installed: stores in Redis are not tried")
            return {"undeclared_ends": None, "wrong_200": None, "disk": disk}
        found = await asyncio.gather(*(_count_ends(name, harm, clients) for name, harm in harms.items()))
    return {
        "undeclared_ends": sum(undeclared for undeclared, _ in found),
        "wrong_200": sum(wrong for _, wrong in found),
        "harms": list(harms),
        "disk": disk,
    }


async def _count_ends(name: str, harm: Harm, clients: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        await server.start()
        try:
            async with _serve_with(RedisRunStore(server.url, 3600)) as (url, gateway):
                asked = [asyncio.create_task(_ask(url, stream=i % 2 == 0)) for i in range(clients)]
                await _wait_until_all_work(gateway, clients)
                await harm(server)
                ends = await asyncio.gather(*asked)
        finally:
            await server.stop()
    print_progress(f"Redis {name}: {', '.join(sorted(set(ends)))}")
    return ends.count("undeclared"), ends.count("wrong 200")


async def _full_disk(folder: Path, clients: int) -> Result:
    """SQLite that gets no further page, as on a disk without room, and then gets some again."""
    store = SQLiteRunStore(folder / "runs.sqlite", 3600)
    async with _serve_with(store) as (url, gateway), httpx.AsyncClient(timeout=_PATIENCE_S) as http:
        asked = [asyncio.create_task(_ask(url, stream=i % 2 == 0)) for i in range(clients)]
        await _wait_until_all_work(gateway, clients)
        await store.limit_pages(0)
        refused = await http.post(f"{url}/locate", files={"image": plain_photo(64, 64)})
        ends = await asyncio.gather(*asked)
        await store.limit_pages(None)
        well = await _ask(url, stream=False)
    print_progress(f"SQLite without room: {', '.join(sorted(set(ends)))}; new ones {refused.status_code}; then {well}")
    return {
        "status": refused.status_code,
        "reason": refused.json().get("detail", ""),
        "undeclared_ends": ends.count("undeclared"),
        "wrong_200": ends.count("wrong 200"),
        "well_again": well == "answered",
    }


@asynccontextmanager
async def _serve_with(store: RunStore) -> AsyncIterator[tuple[str, Gateway]]:
    args = AppArgs(
        engine=ScriptedEngine(turns=4, tokens_per_turn=8, turn_s=_TURN_S),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(heartbeat_s=1.0, lease_s=4.0),
    )
    gateway = Gateway(args, local_ports(args), store=store)
    async with serve_on_socket(gateway, args) as (host, port):
        yield f"http://{host}:{port}", gateway
    await gateway.aclose()


async def _wait_until_all_work(gateway: Gateway, clients: int) -> None:
    """Wait until every request has been accepted: a store that fails before has nobody to disappoint."""
    async with asyncio.timeout(_PATIENCE_S):
        while gateway.admission.working < clients:  # noqa: ASYNC110  nobody rings for it
            await asyncio.sleep(0.02)


async def _ask(url: str, *, stream: bool) -> str:
    """How a request ended: answered, failed, refused, undeclared or wrong 200."""
    accept = "application/x-ndjson" if stream else "application/json"
    async with httpx.AsyncClient(timeout=_PATIENCE_S) as http:
        try:
            reply = await http.post(
                f"{url}/locate", files={"image": plain_photo(64, 64)}, headers={"Accept": accept},
                data={"n_parallel": "1", "depth": "deep"},
            )  # fmt: skip
        except httpx.HTTPError:
            return "undeclared"
    if reply.status_code != httpx.codes.OK:
        return "refused"
    if not stream:
        return "answered" if reply.json().get("answer") else "wrong 200"
    kinds = [orjson.loads(line)["type"] for line in reply.text.splitlines() if line.strip()]
    if kinds[-1:] != ["done"] or not {"answer", "error"} & set(kinds):
        return "undeclared"
    return "failed" if "error" in kinds else "answered"
