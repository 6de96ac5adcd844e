"""Several addresses of one service: a request goes to the one that answered last, and on to the next when that is gone.

The gateways behind them share a run store, so a stream that one began is read on at another, and a request that is sent
again under its key runs once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import httpx

_log = logging.getLogger("geotts.client")
_NOT_REACHED = (httpx.ConnectError, httpx.ConnectTimeout)


class Failover(httpx.AsyncBaseTransport):
    """`urls` are addresses without a slash at the end; requests are built for the first.

    A request that never reached an address goes to the next at once. One that was lost on the way is the caller's to
    send again: it then goes to the next address.
    """

    def __init__(self, urls: Sequence[str], inner: httpx.AsyncBaseTransport | None = None) -> None:
        self._urls, self._inner = tuple(urls), inner or httpx.AsyncHTTPTransport()
        self._at = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Try each address once, beginning with the last that worked. Raises what the last attempt raised."""
        path = str(request.url)[len(self._urls[0]) :]
        untried = len(self._urls)
        while True:
            at, untried = self._at, untried - 1
            request.url = httpx.URL(self._urls[at] + path)
            request.headers["Host"] = request.url.netloc.decode()
            try:
                return await self._inner.handle_async_request(request)
            except httpx.TransportError as error:
                if self._at == at:  # others may have moved on already
                    self._at = (at + 1) % len(self._urls)
                if not untried or not isinstance(error, _NOT_REACHED):
                    raise
                _log.info("%s does not answer: %s is asked", self._urls[at], self._urls[self._at])

    async def aclose(self) -> None:
        """Close the connections to all addresses."""
        await self._inner.aclose()
