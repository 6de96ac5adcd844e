"""A local HTTP server that misbehaves on request: its first path segment says how. For the safe client and providers.

`/ok`, `/status/CODE`, `/retry/CODE/SECONDS`, `/garbage`, `/half`, `/cut`, `/reset`, `/silence`, `/drip`, `/huge`,
`/bomb`, `/bad-gzip`, `/short-gzip`, `/redirect?to=URL&status=CODE`, `/loop`, `/cookie`, `/echo`, `/type/KIND`.
Anything else is looked up in `replies`, by path.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Seen:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}


Reply = tuple[int, dict[str, str], bytes]


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    return status, {"content-type": "application/json", **headers}, json.dumps(value).encode()


@dataclass
class RudeServer:
    """What it saw, and what it answers. `answer(seen)` may return a reply, or the name of a misbehaviour."""

    seen: list[Seen] = field(default_factory=list)
    answer: Callable[[Seen], Reply | str | Awaitable[Reply]] | None = None
    port: int = 0
    scheme: str = "http"
    open_connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            while True:
                seen = await _read_request(reader)
                self.seen.append(seen)
                self.arrived.set()
                await self._reply(seen, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self.open_connections -= 1
            writer.close()

    async def _reply(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        behaviour: Reply | str = unquote(seen.target.lstrip("/"))
        if self.answer is not None:
            answered = self.answer(seen)
            behaviour = answered if isinstance(answered, str | tuple) else await answered
        if isinstance(behaviour, str):
            name, *rest = urlsplit(f"//x/{behaviour}").path.lstrip("/").split("/")
            await self._misbehave(name, rest, seen, writer)
        else:
            await _send_reply(writer, *behaviour)

    async def _misbehave(self, name: str, rest: list[str], seen: Seen, writer: asyncio.StreamWriter) -> None:
        if name in _RAW_BEHAVIOURS:
            await _RAW_BEHAVIOURS[name](writer)
        else:
            await _send_reply(writer, *_WHOLE_REPLIES.get(name, _fine_reply)(rest, seen))


async def _read_request(reader: asyncio.StreamReader) -> Seen:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, target, headers, body)


async def _send_reply(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes) -> None:
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body)
    await writer.drain()


async def _send_garbage(writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\x9f\x92\x96 this is not HTTP\r\n\r\n")
    await writer.drain()
    writer.close()


async def _send_half(writer: asyncio.StreamWriter) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"half": ')
    await writer.drain()
    writer.close()


async def _cut_reply(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1000\r\nhal")
    await writer.drain()
    writer.close()


async def _reset_connection(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def _keep_silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def _send_slowly(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _send_huge(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n")
    block = b"0" * 2**20
    for _ in range(200):
        writer.write(block)
        await writer.drain()
    writer.close()


_TEXT_HEADERS = {"content-type": "text/plain"}


def _fine_reply(rest: list[str], seen: Seen) -> Reply:
    return 200, _TEXT_HEADERS, b"fine"


def _gzip_reply(body: bytes) -> Reply:
    return 200, {**_TEXT_HEADERS, "content-encoding": "gzip"}, body


def _echo_reply(seen: Seen) -> Reply:
    return as_json({"target": seen.target, "headers": seen.headers, "body": seen.body.decode()})


_WHOLE_REPLIES: dict[str, Callable[[list[str], Seen], Reply]] = {
    "status": lambda rest, seen: (int(rest[0]), _TEXT_HEADERS, b"no"),
    "retry": lambda rest, seen: (int(rest[0]), {**_TEXT_HEADERS, "retry-after": rest[1]}, b"later"),
    "redirect": lambda rest, seen: (int(seen.query.get("status", "302")), {"location": seen.query["to"]}, b""),
    "loop": lambda rest, seen: (302, {"location": "/loop"}, b""),
    "cookie": lambda rest, seen: (200, {**_TEXT_HEADERS, "set-cookie": "id=1; Path=/"}, b"have one"),
    "type": lambda rest, seen: (200, {"content-type": "/".join(rest)}, b"typed"),
    "echo": lambda rest, seen: _echo_reply(seen),
    "bomb": lambda rest, seen: _gzip_reply(gzip.compress(bytes(64 * 2**20), compresslevel=1)),
    "bad-gzip": lambda rest, seen: _gzip_reply(b"this is no gzip"),
    "short-gzip": lambda rest, seen: _gzip_reply(gzip.compress(b"x" * 5000)[:-12]),
}
_RAW_BEHAVIOURS = {
    "garbage": _send_garbage,
    "half": _send_half,
    "cut": _cut_reply,
    "reset": _reset_connection,
    "silence": _keep_silent,
    "drip": _send_slowly,
    "huge": _send_huge,
}


@asynccontextmanager
async def rude_server(
    answer: Callable[[Seen], Reply | str | Awaitable[Reply]] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RudeServer]:
    rude = RudeServer(answer=answer, scheme="https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await rude.serve(reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    rude.port = server.sockets[0].getsockname()[1]
    try:
        yield rude
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(list(tasks))
