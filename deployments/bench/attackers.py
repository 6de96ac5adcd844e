"""The attackers of `geotts bench abuse`: `python -m deployments.bench.attackers KIND PORT COUNT SECONDS KEY`.

Each kind is bounded in connections and seconds, comes from 127.0.0.2 and up, and speaks to loopback only. They run in a
process of their own, with the lowest priority: what they take of the processor is not the service's.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

_ADDRESSES = 25
_PIECE = 64 * 1024
Attack = Callable[["Target", int], Awaitable[None]]


class Target:
    """Whom to attack, until when, and with which key."""

    def __init__(self, port: int, seconds: float, key: str) -> None:
        self.port, self.key = port, key
        self._until = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        return time.monotonic() > self._until

    async def connection(self, number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        source = (f"127.0.0.{2 + number % _ADDRESSES}", 0)
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=source)

    def head(self, *fields: str) -> bytes:
        lines = ["POST /locate HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.key}", *fields]
        return "".join(f"{line}\r\n" for line in lines).encode()


async def slowloris(target: Target, number: int) -> None:
    """A header field every two seconds, and never the last."""
    _, writer = await target.connection(number)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    while not target.over and not writer.is_closing():
        await asyncio.sleep(2.0)
        writer.write(b"X-More: 1\r\n")
        await writer.drain()


async def headers(target: Target, number: int) -> None:
    """One header field without an end, a mebibyte a second."""
    _, writer = await target.connection(number)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
    while not target.over and not writer.is_closing():
        writer.write(b"a" * _PIECE)
        await writer.drain()
        await asyncio.sleep(_PIECE / 2**20)


async def dns(target: Target, number: int) -> None:
    """A photo at a name whose server keeps silent."""
    body = f'{{"image": {{"url": "http://a{number}-{time.monotonic_ns()}.silent.invalid/a.jpg"}}}}'.encode()
    reader, writer = await target.connection(number)
    writer.write(target.head("Content-Type: application/json", f"Content-Length: {len(body)}") + b"\r\n" + body)
    await reader.readline()
    writer.close()


async def bodies(target: Target, number: int) -> None:
    """A body that comes by a byte every two seconds."""
    _, writer = await target.connection(number)
    writer.write(target.head("Content-Type: application/json", "Content-Length: 100000") + b"\r\n{")
    while not target.over and not writer.is_closing():
        await asyncio.sleep(2.0)
        writer.write(b" ")
        await writer.drain()


async def connects(target: Target, number: int) -> None:
    """A connection that is closed at once; `COUNT` a second are opened."""
    await asyncio.sleep(number % 100 / 100)
    while not target.over:
        started = time.monotonic()
        with suppress(OSError):
            _, writer = await target.connection(number)
            writer.transport.abort()
        await asyncio.sleep(max(0.0, 1.0 - (time.monotonic() - started)))


ATTACKS: dict[str, Attack] = {one.__name__: one for one in (slowloris, headers, dns, bodies, connects)}


async def _repeat(attack: Attack, target: Target, number: int) -> None:
    """Again and again: whoever is thrown out comes back."""
    while not target.over:
        with suppress(OSError, asyncio.IncompleteReadError):
            await attack(target, number)
        await asyncio.sleep(0.5)


async def _all(attack: Attack, target: Target, count: int) -> None:
    async with asyncio.timeout(600):
        await asyncio.gather(*(_repeat(attack, target, number) for number in range(count)))


if __name__ == "__main__":
    os.nice(19)
    kind, port, count, seconds, key = sys.argv[1:]
    asyncio.run(_all(ATTACKS[kind], Target(int(port), float(seconds), key), int(count)))
