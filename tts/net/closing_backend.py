"""Closes a connection if its opening is cancelled in the middle of the TLS handshake.

httpcore 1.0.9 closes a connection whose handshake fails, and not one whose handshake is cancelled
(`httpcore/_backends/anyio.py`, line 77: `except Exception`). Such a connection stays open until the server hangs up or
Python collects it, which warns of an unclosed transport.
"""

from __future__ import annotations

import ssl
import typing
from contextlib import AsyncExitStack

import httpcore
import httpx


class ClosingBackend(httpcore.AnyIOBackend):
    """httpcore's backend for asyncio, with a handshake that leaves nothing open."""

    async def connect_tcp(self, host: str, port: int, *args: typing.Any, **options: typing.Any) -> _PlainConnection:
        """A connection without TLS; it is closed when a handshake on it fails or is cancelled."""
        return _PlainConnection(await super().connect_tcp(host, port, *args, **options))


class _PlainConnection(httpcore.AsyncNetworkStream):
    """A connection without TLS, on which a handshake may follow."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        async with AsyncExitStack() as unless_it_succeeds:
            unless_it_succeeds.push_async_callback(self._stream.aclose)
            secured = await self._stream.start_tls(ssl_context, server_hostname, timeout)
            unless_it_succeeds.pop_all()
        return secured

    def get_extra_info(self, info: str) -> typing.Any:
        return self._stream.get_extra_info(info)


def closing_transport(limits: httpx.Limits) -> httpx.AsyncHTTPTransport:
    """httpx's own transport over `ClosingBackend`; proxies and certificates of the environment are not used."""
    transport = httpx.AsyncHTTPTransport(limits=limits, trust_env=False)
    transport._pool._network_backend = ClosingBackend()  # httpx 0.28 has no argument for it
    return transport
