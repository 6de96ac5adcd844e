"""A network that cuts streams: for tests and benchmarks of resuming."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence

import httpx


class CuttingTransport(httpx.AsyncBaseTransport):
    """Sends each request to the next of `urls`, and cuts event streams after a random number of bytes, `cuts` times."""

    def __init__(self, urls: Sequence[str], *, cuts: int, seed: int, longest: int = 4000) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._urls = [httpx.URL(url) for url in urls]
        self._random = random.Random(seed)
        self._max_bytes = longest
        self._requests = 0
        self.cuts_left = cuts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The reply of the next URL. Reading a stream that is cut raises httpx.ReadError."""
        target = self._urls[self._requests % len(self._urls)]
        self._requests += 1
        request.url = request.url.copy_with(host=target.host, port=target.port)
        reply = await self._inner.handle_async_request(request)
        if self.cuts_left > 0 and reply.headers.get("content-type", "").startswith("text/event-stream"):
            self.cuts_left -= 1
            assert isinstance(reply.stream, httpx.AsyncByteStream)
            reply.stream = _CutStream(reply.stream, self._random.randint(1, self._max_bytes))
        return reply

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


class _CutStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, length: int) -> None:
        self._inner = inner
        self._remaining = length

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield chunk[: self._remaining]
            self._remaining -= len(chunk)
            if self._remaining <= 0:
                raise httpx.ReadError("cut")

    async def aclose(self) -> None:
        await self._inner.aclose()
