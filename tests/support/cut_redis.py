"""A way to a Redis that can be cut: refused, or a black hole in which nothing is ever answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal
from urllib.parse import urlsplit

Cut = Literal["refused", "black hole"]
CUTS: tuple[Cut, ...] = ("refused", "black hole")


class CutRedis:
    """`refused` resets connections and refuses new ones. In a `black hole` connections stay up and bytes vanish.

    A connection that was up meanwhile stays dead after `reconnect`, as behind a firewall that forgot it: clients have
    to notice and connect anew.
    """

    def __init__(self, url: str) -> None:
        there = urlsplit(url)
        self._redis_address = (there.hostname or "", there.port or 0)
        self._port = 0
        self._server: asyncio.Server | None = None
        self._is_black_hole = False
        self._black_hole_count = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", self._port, limit=2**20)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self, how: Cut) -> None:
        if how == "black hole":
            self._is_black_hole = True
            self._black_hole_count += 1
            return
        await self.close()

    async def reconnect(self) -> None:
        self._is_black_hole = False
        if self._server is None:
            await self.listen()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self._redis_address)
        self._writers |= {writer, there_writer}
        born, lost = self._black_hole_count, self._is_black_hole

        async def onwards(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(65536):
                    if not lost and self._black_hole_count == born:
                        sink.write(data)
                        await sink.drain()
            sink.close()

        try:
            await asyncio.gather(onwards(reader, there_writer), onwards(there_reader, writer))
        finally:
            self._writers -= {writer, there_writer}
            for end in (writer, there_writer):
                end.transport.abort()


@asynccontextmanager
async def cut_redis(url: str) -> AsyncIterator[CutRedis]:
    way = CutRedis(url)
    await way.listen()
    try:
        yield way
    finally:
        await way.close()
