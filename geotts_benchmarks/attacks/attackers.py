"""The attackers of `geotts bench abuse`: `python -m geotts_benchmarks.attacks.attackers KIND PORT COUNT SECONDS KEY…`.

Each kind is bounded in connections, comes from 127.0.0.2 and up, and speaks to loopback only. They run in a process of
their own, with the lowest priority: what they take of the processor is not the service's.

For SECONDS whoever is thrown out comes back. Then one line of JSON says how strong the attack was. From then on nobody
connects again, and every connection goes on until the server closes it or this process is killed: who counts on the
server's side in that time finds what the server leaves open.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import click
import orjson

ADDRESSES = tuple(f"127.0.0.{last}" for last in range(2, 27))
_CHUNK_BYTES = 64 * 1024
_SPARE_FILES = 64
_RECONNECT_PAUSE_S = 0.5
_MAX_ATTACK_S = 900
Attack = Callable[["Target", int], Awaitable[None]]


class Connection:
    """One connection of an attacker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send, and wait while the buffer is full. Raises OSError when the connection was lost."""
        self._writer.write(data)
        await self._writer.drain()

    async def closed_within(self, seconds: float) -> bool:
        """Read what comes, for so long. Whether the server closed."""
        try:
            async with asyncio.timeout(seconds):
                while await self._reader.read(_CHUNK_BYTES):
                    pass
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Begin to close, without waiting."""
        self._writer.close()


class Target:
    """Whom to attack, until when, with which keys, and how strong the attack has been so far."""

    def __init__(self, port: int, seconds: float, keys: Sequence[str]) -> None:
        self._port = port
        self._keys = keys
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._connected_attackers: set[int] = set()
        self._n_held = 0
        self._max_held = 0
        self._n_opened = 0
        self._n_failed = 0

    @property
    def is_over(self) -> bool:
        """Whether the time of the attack is over: nobody connects again."""
        return time.monotonic() > self._ends_at

    async def connect(self, number: int) -> Connection:
        """Connect from the address of attacker `number` and count it. Raises OSError, which counts as failed."""
        try:
            source = (_address(number), 0)
            connection = Connection(*await asyncio.open_connection("127.0.0.1", self._port, local_addr=source))
        except OSError:
            self._n_failed += 1
            raise
        self._count_connection(number)
        self._n_held += 1
        self._max_held = max(self._max_held, self._n_held)
        return connection

    def disconnect(self, connection: Connection) -> None:
        """Close a connection and count it as held no longer."""
        self._n_held -= 1
        connection.close()

    async def touch(self, number: int) -> None:
        """Connect, and reset the connection at once."""
        with socket.socket() as one:
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            try:
                one.bind((_address(number), 0))
                await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", self._port))
            except OSError:
                self._n_failed += 1
                return
        self._count_connection(number)

    def head(self, number: int, *fields: str) -> bytes:
        """Request line and header fields of `POST /locate` with a key; the empty line that ends them is missing."""
        key = self._keys[number % len(self._keys)]
        lines = ["POST /locate HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}", *fields]
        return "".join(f"{line}\r\n" for line in lines).encode()

    def connection_counts(self) -> dict[str, float]:
        """How many `attackers` were ever connected, connections `held` at once, connects a second, failed connects."""
        return {
            "attackers": len(self._connected_attackers),
            "held": self._max_held,
            "per_s": round(self._n_opened / self._seconds, 1),
            "failed": self._n_failed,
        }

    def _count_connection(self, number: int) -> None:
        self._connected_attackers.add(number)
        self._n_opened += 1


def _address(number: int) -> str:
    return ADDRESSES[number % len(ADDRESSES)]


async def slowloris(target: Target, number: int, connection: Connection) -> None:
    """A header field every two seconds, and never the last."""
    await connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    while not await connection.closed_within(2.0):
        await connection.send(b"X-More: 1\r\n")


async def headers(target: Target, number: int, connection: Connection) -> None:
    """One header field without an end, a mebibyte a second."""
    await connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
    while not await connection.closed_within(_CHUNK_BYTES / 2**20):
        await connection.send(b"a" * _CHUNK_BYTES)


async def dns(target: Target, number: int, connection: Connection) -> None:
    """A photo at a name whose server keeps silent."""
    body = f'{{"image": {{"url": "http://a{number}-{time.monotonic_ns()}.silent.invalid/a.jpg"}}}}'.encode()
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
    await connection.send(target.head(number, *fields) + b"\r\n" + body)
    await connection.closed_within(_MAX_ATTACK_S)


async def bodies(target: Target, number: int, connection: Connection) -> None:
    """A body that comes by a byte every two seconds."""
    fields = ("Content-Type: application/json", "Content-Length: 100000")
    await connection.send(target.head(number, *fields) + b"\r\n{")
    while not await connection.closed_within(2.0):
        await connection.send(b" ")


async def _repeat_attack(
    attack: Callable[[Target, int, Connection], Awaitable[None]], target: Target, number: int
) -> None:
    while not target.is_over:
        with suppress(OSError):  # it was thrown out, or not let in: both are counted
            connection = await target.connect(number)
            try:
                if not target.is_over:
                    await attack(target, number, connection)
            finally:
                target.disconnect(connection)
        await asyncio.sleep(_RECONNECT_PAUSE_S)


async def connects(target: Target, number: int) -> None:
    """A connection a second that is reset at once."""
    next_at = time.monotonic() + number % 100 / 100
    while not target.is_over:
        await asyncio.sleep(max(0.0, next_at - time.monotonic()))
        await target.touch(number)
        next_at += 1.0


def _holding_attack(attack: Callable[[Target, int, Connection], Awaitable[None]]) -> Attack:
    async def hold(target: Target, number: int) -> None:
        await _repeat_attack(attack, target, number)

    return hold


ATTACKS: dict[str, Attack] = {
    "connects": connects,
    **{one.__name__: _holding_attack(one) for one in (slowloris, headers, dns, bodies)},
}


async def _report(target: Target, seconds: float) -> None:
    await asyncio.sleep(seconds)
    click.echo(orjson.dumps(target.connection_counts()))  # flushes


async def _run_attackers(kind: str, port: int, count: int, seconds: float, keys: Sequence[str]) -> None:
    target = Target(port, seconds, keys)
    async with asyncio.timeout(_MAX_ATTACK_S):
        await asyncio.gather(_report(target, seconds), *(ATTACKS[kind](target, number) for number in range(count)))


def allow_files(count: int) -> None:
    """Raise the limit of open files for so many connections, as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


if __name__ == "__main__":
    os.nice(19)
    kind, port, count, seconds, *keys = sys.argv[1:]
    allow_files(int(count))
    asyncio.run(_run_attackers(kind, int(port), int(count), float(seconds), keys))
