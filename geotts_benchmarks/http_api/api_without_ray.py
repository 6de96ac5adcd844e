"""The parts of `geotts bench api` that need no Ray: merging, a reader that stalls, addresses that must not be
fetched.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import httpx

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.wiring.local import local_ports
from geotts_benchmarks.gateway_on_socket import serve_on_socket
from geotts_benchmarks.plain_photo import plain_photo
from tts.api.sse_frame import sse_frame
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutStarted, Text
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions
from tts.ports.rollout_groups import GroupRequest, RolloutItem

_N_EVENTS = 200
_STALL_CHARS = 40_000
_FORBIDDEN_HOSTS = """
    127.0.0.1 127.1 127.0.0.1:80 0.0.0.0 0 localhost localhost. [::1] [::] 10.0.0.1 10.255.255.255 172.16.0.1
    172.31.255.1 192.168.0.1 192.168.1.1:443 169.254.169.254 169.254.0.1 100.64.0.1 100.100.100.200 192.0.0.1 192.0.2.1
    198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 2130706433 0x7f000001 0177.0.0.1
    [::ffff:127.0.0.1] [::ffff:10.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fc00::1] [fd00:ec2::254] [ff02::1]
    [2001:db8::1] metadata.google.internal user:pass@127.0.0.1 127.0.0.1:22 127.0.0.1#@example.org
"""
_FORBIDDEN_URLS = (
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "ftp://127.0.0.1/x.jpg",
    "http://",
    "https://127.0.0.1/",
)
PRIVATE = (*(f"http://{host}/photo.jpg" for host in _FORBIDDEN_HOSTS.split()), *_FORBIDDEN_URLS)


class ChattyRollouts:
    """Every rollout says `events` things that cannot be merged, as fast as it can, and no group is batched."""

    def __init__(self, events: int, text: str, pause_s: float = 0.0) -> None:
        self._events = events
        self._text = text
        self._pause_s = pause_s

    def group_size(self, group: GroupRequest) -> int:
        """1: each rollout is a group."""
        return 1

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Each event as a batch of its own; every text belongs to another turn, so none can be merged."""
        for task in group.tasks:
            yield [RolloutStarted(rollout_id=task.rollout_id, seed=task.seed)]
            for turn in range(self._events):
                yield [Text(rollout_id=task.rollout_id, turn=turn, text=self._text)]
                await asyncio.sleep(self._pause_s)
            yield [RolloutFinished(rollout_id=task.rollout_id, stop_reason=StopReason.ANSWERED)]


def inside_args() -> AppArgs:
    """The configuration of the gateways that are measured in this process: one short scripted turn, no tools."""
    return AppArgs(
        engine=ScriptedEngine(turns=1, tokens_per_turn=4, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(max_in_flight=256, body_window_s=2.0),
    )


def chatty_gateway(args: AppArgs, events: int, text: str) -> Gateway:
    """A gateway whose rollouts say `text` as `events` events each."""
    return Gateway(args, replace(local_ports(args), rollouts=ChattyRollouts(events, text)))


async def merge_ms(args: AppArgs, *, rollouts: int = 8) -> float:
    """Milliseconds an event from eight rollouts takes through pipeline, log and frame."""
    gateway = chatty_gateway(args, _N_EVENTS, "a few words of reasoning ")
    options = LocateOptions(n_parallel=rollouts, depth=Depth.DEEP)
    started = time.perf_counter()
    request = await gateway.start([plain_photo(64, 64)], options)
    frames = [sse_frame(e.seq, e.kind, e.payload) async for e in gateway.follow(request.request_id) if e is not None]
    seconds = time.perf_counter() - started
    await gateway.aclose()
    assert len(frames) >= rollouts * _N_EVENTS
    return seconds * 1e3 / len(frames)


async def stalled_reader(args: AppArgs, *, stall_s: float) -> tuple[float, bool]:
    """MB that a reader costs who reads nothing for `stall_s`, and whether it then still gets every event."""
    gateway = chatty_gateway(args, 20, "x" * _STALL_CHARS)
    async with serve_on_socket(gateway, args) as (host, port):
        grown, _ = await _read_late(host, port, 0.0)
        stalled, whole = await _read_late(host, port, stall_s)
    await gateway.aclose()
    return max(0.0, (stalled - grown) / 2**20), whole


async def _read_late(host: str, port: int, stall_s: float) -> tuple[int, bool]:
    """Bytes allocated while a client waits `stall_s` before it reads its stream, and whether the stream was whole."""
    body, kind = _multipart_form(plain_photo(64, 64))
    head = (
        f"POST /locate HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\nConnection: close\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.socket()
    connection.setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVBUF, 4096
    )  # before it connects: what is in flight stays small
    connection.connect((host, port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=4096)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    writer.write(head.encode() + body)
    await writer.drain()
    await asyncio.sleep(stall_s)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)  # or the rest comes in drops
    grown = tracemalloc.get_traced_memory()[0] - before if stall_s else 0
    report = await reader.read(-1)
    if not stall_s:
        grown = tracemalloc.get_traced_memory()[0] - before - len(report)
    tracemalloc.stop()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return grown, report.count(b'"type":"rollout_finished"') == 4 and b'"type":"done"' in report


def _multipart_form(photo: bytes) -> tuple[bytes, str]:
    request = httpx.Request("POST", "http://x", files={"image": photo}, data={"n_parallel": "4", "depth": "deep"})
    return request.read(), request.headers["content-type"]


async def ssrf_refused(http: httpx.AsyncClient) -> float:
    """Share of addresses that must not be fetched which are refused as the caller's mistake."""
    refused = 0
    for url in PRIVATE:
        reply = await http.post("/locate", json={"image": {"url": url}, "n_parallel": 1})
        refused += 400 <= reply.status_code < 500
    return refused / len(PRIVATE)
