"""Connections over a real Ray Serve cluster: what comes before a request is one has limits there too."""

import asyncio
import contextlib

import psutil
import pytest

from deployments.config import AppArgs, ConnectionLimits, GatewayConfig
from tts.config import RoutingConfig, ScriptedEngine

LIMITS = ConnectionLimits(head_timeout_s=1.0, max_connections=64)
ARGS = AppArgs(
    engine=ScriptedEngine(turns=2, tokens_per_turn=8, turn_s=0.1),
    routing=RoutingConfig(method="fixed"),
    gateway=GatewayConfig(connections=LIMITS),
)
HEALTHZ = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


async def open_connection(service, data=b""):
    host, _, port = service.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    return reader, writer


async def read_to_the_end(reader, seconds):
    async with asyncio.timeout(seconds):
        with contextlib.suppress(ConnectionResetError):
            return await reader.read()
        return b""


async def is_healthy(service):
    reader, writer = await open_connection(service, HEALTHZ)
    reply = await read_to_the_end(reader, 5.0)
    writer.close()
    return b" 200 " in reply


def open_here(service):
    """Connections that the server has open."""
    port = int(service.url.rpartition(":")[2])
    found = psutil.net_connections("tcp")
    return sum(one.status == "ESTABLISHED" and one.laddr.port == port for one in found)


async def test_an_endless_header_is_cut(service):
    _, writer = await open_connection(service, b"GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ")
    sent_bytes = 0
    with contextlib.suppress(ConnectionError):
        while sent_bytes < 64 * 2**20:
            writer.write(b"a" * 65536)
            await writer.drain()
            sent_bytes += 65536
    writer.close()
    assert sent_bytes < 16 * 2**20
    assert await is_healthy(service)


async def test_incomplete_requests_are_closed_and_do_not_keep_others_out(service):
    crowd = [await open_connection(service, b"GET /hea") for _ in range(200)]
    assert await is_healthy(service)
    replies = await asyncio.gather(*(read_to_the_end(reader, 10.0) for reader, _ in crowd))
    assert any(b" 408 " in reply for reply in replies)
    for _, writer in crowd:
        writer.close()
    async with asyncio.timeout(5):
        while open_here(service) > 0:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert await is_healthy(service)
