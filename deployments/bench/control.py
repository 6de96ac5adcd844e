"""`geotts bench control`: what the service adds to the time of its engine.

The engine takes exactly 200 ms (or 0), so everything else is ours: reading the photo, planning, N rollouts over Ray
Serve, events, verifying, the reply. `--beside` measures other best-of-N servers in the same run, in front of a fake
engine of the same 200 ms: `scripts/best-of-n-servers` installs and starts two (docs/evaluation.md).
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import click
import httpx

from deployments.bench.fanout import plain_photo
from deployments.bench.harness import Result, client, free_port, median, report, say
from deployments.cluster import served
from tts.config import AppArgs, GatewayConfig, RoutingConfig, ScriptedEngine

_ENGINE_S = 0.2
_MODEL = "fake"
_KEY = {"Authorization": "Bearer none"}  # some servers ask for one, whatever it is
Ask = Callable[[httpx.AsyncClient, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Other:
    """Another server: its base URL, and the field of a request by which it is told N."""

    name: str
    url: str
    field: str


class Beside(click.ParamType[Other]):
    """`NAME=URL` or `NAME=URL,FIELD`."""

    name = "NAME=URL[,FIELD]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Other:
        name, _, rest = str(value).partition("=")
        url, _, budget = rest.partition(",")
        if not name or not url.startswith("http"):
            self.fail(f"{value!r} is not {self.name}", param, ctx)
        return Other(name, url.rstrip("/"), budget or "n")


@click.command()
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True, help="Rollouts a request.")
@click.option("--repeats", type=click.IntRange(1), default=40, show_default=True, help="Requests of each client.")
@click.option(
    "--beside",
    "others",
    multiple=True,
    type=Beside(),
    help="An OpenAI-compatible best-of-N server, and the field of a request that tells it N (default n). Repeatable.",
)
@click.option("--quick", is_flag=True, help="8 requests.")
def command(n: int, repeats: int, others: tuple[Other, ...], quick: bool) -> None:
    """Milliseconds added to an engine of 200 ms at 1 and 8 clients, and requests a second at one of 0 ms."""
    report("control", lambda: measure(n, 8 if quick else repeats, others))


def measure(n: int, repeats: int, others: Sequence[Other]) -> Result:
    photo = plain_photo(640, 480)
    found: Result = {"n": n, "photo_bytes": len(photo)}
    with served(_args(_ENGINE_S)) as service:
        found |= asyncio.run(_added(_locate(service.url, photo, n), repeats, "geotts"))
    with served(_args(0.0)) as service:
        found["rps_zero"] = round(asyncio.run(_per_second(_locate(service.url, photo, n), repeats)), 1)
        say(f"geotts: {found['rps_zero']} requests a second")
    beside: dict[str, Result] = {}
    for other in others:
        beside[other.name] = asyncio.run(_added(_chat(other, photo, n), repeats, other.name))
    return {**found, "beside": beside}


def _args(turn_s: float) -> AppArgs:
    return AppArgs(
        engine=ScriptedEngine(turns=1, tokens_per_turn=16, turn_s=turn_s, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port(), max_in_flight=512),
    )


def _locate(url: str, photo: bytes, n: int) -> Ask:
    async def ask(http: httpx.AsyncClient, i: int) -> None:
        data = {"n_parallel": str(n), "depth": "standard", "seed": str(i), "include": "none"}
        (await http.post(f"{url}/locate", files={"image": photo}, data=data)).raise_for_status()

    return ask


def _chat(server: Other, photo: bytes, n: int) -> Ask:
    image = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{base64.b64encode(photo).decode()}"}}

    async def ask(http: httpx.AsyncClient, i: int) -> None:
        words = {"type": "text", "text": f"Where was this taken? ({i})"}
        body = {"model": _MODEL, "messages": [{"role": "user", "content": [words, image]}], server.field: n}
        (await http.post(f"{server.url}/chat/completions", json=body, headers=_KEY)).raise_for_status()

    return ask


async def _added(ask: Ask, repeats: int, name: str) -> Result:
    """Median milliseconds on top of the engine's, at one client and at eight."""
    result: Result = {}
    async with client() as http:
        for i in range(4):
            await ask(http, 10_000 + i)
        for clients in (1, 8):
            walls = await _walls(ask, http, clients, repeats)
            result[f"added_p50_ms_{clients}"] = round((median(walls) - _ENGINE_S) * 1e3, 2)
            say(f"{name}: {clients} clients, {result[f'added_p50_ms_{clients}']} ms added")
    return result


async def _per_second(ask: Ask, repeats: int) -> float:
    async with client() as http:
        await _walls(ask, http, 8, 3)
        started = time.perf_counter()
        walls = await _walls(ask, http, 16, repeats)
        return len(walls) / (time.perf_counter() - started)


async def _walls(ask: Ask, http: httpx.AsyncClient, clients: int, repeats: int) -> list[float]:
    walls: list[float] = []

    async def one(number: int) -> None:
        for i in range(repeats):
            started = time.perf_counter()
            await ask(http, number * repeats + i)
            walls.append(time.perf_counter() - started)

    await asyncio.gather(*(one(number) for number in range(clients)))
    return walls
