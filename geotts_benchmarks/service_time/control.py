"""`geotts bench control`: what the service adds to the time of its engine.

The engine takes exactly 200 ms (or 0). The rest of the time is that of the service: reading the photo, planning, N
rollouts, events, verifying, the reply. Three configurations are measured: rollouts and verifier in the process of the
gateway (the default with an endpoint, ADR 0012), rollouts and verifier in separate deployments (`apart`), and the photo
rated while the rollouts run (`leader`; with `depth: auto` in this process, by `leader_cost.py`). `--beside` measures
other best-of-N servers in the same run, in front of a fake engine of the same 200 ms: `scripts/best-of-n-servers`
installs and starts two (docs/evaluation.md). `least` is the minimum that any such service takes on this machine
(`geotts_benchmarks.service_time.bare_ray_serve`).
"""

from __future__ import annotations

import base64
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Literal
from urllib.parse import urlsplit

import click
import httpx
import orjson
import psutil

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import serve_application, serve_configuration
from geotts_benchmarks.harness import Result, free_port, gone_is_fine, median, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.service_time.bare_ray_serve import bare, photo_ms
from geotts_benchmarks.service_time.leader_cost import measure_led
from tts.config import RoutingConfig, ScriptedEngine
from tts.errors import FatalError

_ENGINE_S = 0.2
_MODEL = "fake"
_WARM_REQUESTS = 4
_CLIENTS = (1, 8)
_REPLICA_TITLE = "ServeReplica:geotts:"


@dataclass(frozen=True, slots=True)
class Post:
    """A request that is ready to be sent: making it is not the server's time."""

    path: str
    body: bytes
    headers: Mapping[str, str]


Make = Callable[[int], Post]


@dataclass(frozen=True, slots=True)
class OtherServer:
    """Another server: its base URL, and the field of a request that holds N."""

    name: str
    url: str
    field: str


class OtherServerType(click.ParamType[OtherServer]):
    """`NAME=URL` or `NAME=URL,FIELD`."""

    name = "NAME=URL[,FIELD]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> OtherServer:
        """The server that the text names, with `n` as the field when it names none."""
        name, _, rest = str(value).partition("=")
        url, _, budget = rest.partition(",")
        if not name or not url.startswith("http"):
            self.fail(f"{value!r} is not {self.name}", param, ctx)
        return OtherServer(name, url.rstrip("/"), budget or "n")


@click.command()
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True, help="Rollouts for each request.")
@click.option("--repeats", type=click.IntRange(1), default=40, show_default=True, help="Requests from each client.")
@click.option(
    "--beside",
    "others",
    multiple=True,
    type=OtherServerType(),
    help="Another OpenAI-compatible best-of-N server, and the request field for N (default: n). Repeatable.",
)
@click.option("--quick", is_flag=True, help="Send 8 requests from each client.")
def command(n: int, repeats: int, others: tuple[OtherServer, ...], quick: bool) -> None:
    """Milliseconds added to an engine of 200 ms at 1 and 8 clients, and requests a second at one of 0 ms.

    cpu_ms is the processor time that all replicas took for a request. Two things change it less than the other figures:
    other programs on the machine, and clients that send their requests at the same moment.

    `least` has two minimum times on this machine: that of an application on Serve that only reads the form and waits,
    and that of a clean copy of the photo.
    """
    report("control", lambda: measure(n, 8 if quick else repeats, others))


def measure(n: int, repeats: int, others: Sequence[OtherServer]) -> Result:
    """The figures of each way to serve, of the least the machine takes, and of the `others`, with `n` rollouts."""
    photo = plain_photo(640, 480)
    found: Result = {"n": n, "photo_bytes": len(photo)}
    for colocate in (True, False):
        with serve_configuration(_make_args(_ENGINE_S, colocate=colocate)) as service:
            replicas = _replica_processes()
            before_s = _cpu_s(replicas)
            added = _measure_added(
                service.url, _locate_requests(photo, n), repeats, "geotts" if colocate else "geotts, apart"
            )
            added["cpu_ms"] = round((_cpu_s(replicas) - before_s) / _count_requests(repeats) * 1e3, 2)
        with serve_configuration(_make_args(0.0, colocate=colocate)) as service:
            rps = _requests_per_s(service.url, _locate_requests(photo, n), repeats)
        figures = {**added, "rps_zero": round(rps, 1)}
        print_progress(f"{'colocated' if colocate else 'apart'}: {figures['rps_zero']} requests a second")
        found |= figures if colocate else {"apart": figures}
    with serve_configuration(_make_args(_ENGINE_S, colocate=True, method="leader")) as service:
        found["leader"] = _measure_added(
            service.url, _locate_requests(photo, n), repeats, "geotts, the first rollout leads"
        )
    found["leader"]["auto"] = measure_led(n, repeats, _ENGINE_S)
    with serve_application(lambda: bare(_ENGINE_S), GatewayConfig(port=free_port())) as service:
        floor = _measure_added(service.url, _locate_requests(photo, n), repeats, "Serve alone")
    found["least"] = {**floor, "photo_ms": round(photo_ms(photo), 2)}
    print_progress(f"a clean copy of the photo: {found['least']['photo_ms']} ms")
    beside = {
        other.name: _measure_added(other.url, _chat_requests(other, photo, n), repeats, other.name) for other in others
    }
    return {**found, "beside": beside}


def _make_args(turn_s: float, *, colocate: bool, method: Literal["fixed", "leader"] = "fixed") -> AppArgs:
    return AppArgs(
        colocate=colocate,
        engine=ScriptedEngine(turns=1, tokens_per_turn=16, turn_s=turn_s, tool=None, sees_pictures=True),
        routing=RoutingConfig(method=method),
        gateway=GatewayConfig(port=free_port(), max_in_flight=512),
    )


def _locate_requests(photo: bytes, n: int) -> Make:
    def make(i: int) -> Post:
        data = {"n_parallel": str(n), "depth": "standard", "seed": str(i), "include": "none"}
        form = httpx.Request("POST", "http://service/locate", files={"image": photo}, data=data)
        return Post("/locate", form.read(), {"Content-Type": form.headers["Content-Type"]})

    return make


def _chat_requests(server: OtherServer, photo: bytes, n: int) -> Make:
    image = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{base64.b64encode(photo).decode()}"}}

    def make(i: int) -> Post:
        words = {"type": "text", "text": f"Where was this taken? ({i})"}
        body = {"model": _MODEL, "messages": [{"role": "user", "content": [words, image]}], server.field: n}
        # some servers ask for a key, whatever it is
        headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
        return Post("/chat/completions", orjson.dumps(body), headers)

    return make


def _measure_added(url: str, make: Make, repeats: int, name: str) -> Result:
    """Median milliseconds on top of the engine's, at one client and at eight."""
    result: Result = {}
    _wall_times_s(url, make, 1, _WARM_REQUESTS)
    for clients in _CLIENTS:
        walls = _wall_times_s(url, make, clients, repeats)
        result[f"added_p50_ms_{clients}"] = round((median(walls) - _ENGINE_S) * 1e3, 2)
        print_progress(f"{name}: {clients} clients, {result[f'added_p50_ms_{clients}']} ms added")
    return result


def _count_requests(repeats: int) -> int:
    """How many `_measure_added` makes."""
    return _WARM_REQUESTS + sum(_CLIENTS) * repeats


def _replica_processes() -> list[psutil.Process]:
    """The replicas of the service that this process has started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with gone_is_fine():
            found += [process] if any(_REPLICA_TITLE in part for part in process.cmdline()) else []
    return found


def _cpu_s(processes: Sequence[psutil.Process]) -> float:
    """Seconds of processor time that they have taken so far."""
    total = 0.0
    for process in processes:
        with gone_is_fine():
            times = process.cpu_times()
            total += times.user + times.system
    return total


def _requests_per_s(url: str, make: Make, repeats: int) -> float:
    _wall_times_s(url, make, 8, 3)
    started = time.perf_counter()
    walls = _wall_times_s(url, make, 16, repeats)
    return len(walls) / (time.perf_counter() - started)


def _wall_times_s(url: str, make: Make, clients: int, repeats: int) -> list[float]:
    """Seconds from the first byte sent to the last received, of clients side by side, each on one connection.

    A plain client in a thread: what an asynchronous one does between bytes would count as the server's.
    """
    with ThreadPoolExecutor(clients) as pool:
        parts = pool.map(lambda number: _client_wall_times_s(url, make, number * repeats, repeats), range(clients))
        return [wall for part in parts for wall in part]


def _client_wall_times_s(url: str, make: Make, first: int, repeats: int) -> list[float]:
    at = urlsplit(url)
    walls = []
    with closing(HTTPConnection(at.hostname or "", at.port, timeout=60.0)) as connection:
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(first, first + repeats):
            post = make(i)
            started = time.perf_counter()
            connection.request("POST", at.path + post.path, body=post.body, headers=dict(post.headers))
            reply = connection.getresponse()
            body = reply.read()
            walls.append(time.perf_counter() - started)
            if reply.status != 200:
                raise FatalError(f"{url} replied {reply.status}: {body[:300].decode(errors='replace')}")
    return walls
