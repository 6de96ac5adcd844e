"""A request that is cancelled in the middle of the TLS handshake leaves no connection open."""

import asyncio
import gc
import warnings
from contextlib import asynccontextmanager, suppress

import pytest

from tts.config import OpenAIEngine
from tts.inference.openai.connection import Connection
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient


class SilentServer:
    """Reads what connections say first, never answers, and counts those that are open."""

    def __init__(self):
        self.port = 0
        self.open = 0
        self.greeted = asyncio.Event()

    async def handle(self, reader, writer):
        self.open += 1
        with suppress(ConnectionError):
            await reader.read(1)
            self.greeted.set()
            await reader.read()
        self.open -= 1
        writer.close()


@asynccontextmanager
async def silent_server():
    silent = SilentServer()
    server = await asyncio.start_server(silent.handle, "127.0.0.1", 0)
    silent.port = server.sockets[0].getsockname()[1]
    async with server:
        yield silent


async def resolve(host, port):
    return ["127.0.0.1"]


def fetch_from(server):
    client = SafeHttpClient(FetchLimits(allow_hosts=frozenset({f"maps.example.com:{server.port}"})), resolve=resolve)
    return client.fetch(f"https://maps.example.com:{server.port}/ok")


def asking_an_engine(server):
    config = OpenAIEngine(base_url=f"https://127.0.0.1:{server.port}/v1", model="m")
    return Connection(config).client.get(f"{config.base_url}/models")


async def left_open(ask):
    """What Python collects unclosed after a request that was cancelled in its handshake."""
    gc.collect()  # what tests before this one left
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        async with silent_server() as server:
            asking = asyncio.ensure_future(ask(server))
            await server.greeted.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            del asking
            gc.collect()
            async with asyncio.timeout(5):
                while server.open:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
    return [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)]


@pytest.mark.parametrize("ask", [fetch_from, asking_an_engine])
async def test_a_cancelled_handshake_is_closed(ask):
    assert await left_open(ask) == []
