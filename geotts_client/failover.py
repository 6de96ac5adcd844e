"""An httpx transport for several addresses of one service. It uses the address that answered last. If that one is
gone, it uses the next.

The gateways at these addresses share a run store. So a stream that one of them began can be read on at another, and a
request that is sent again under its idempotency key runs only once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import httpx

_log = logging.getLogger("geotts.client")
_CONNECT_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout)


class Failover(httpx.AsyncBaseTransport):
    """Transport over several addresses of one service.

    A request that did not reach an address is sent to the next at once. A request that was lost after it was sent is
    not repeated here: the caller sends it again, and it then goes to the next address.

    Args:
        urls: addresses without a slash at the end, 1 or more. Requests are built for the first of them.
        inner: the transport that sends the requests; None for httpx's own.
    """

    def __init__(self, urls: Sequence[str], inner: httpx.AsyncBaseTransport | None = None) -> None:
        self._urls = tuple(urls)
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._url_index = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Try each address once, beginning with the last that answered.

        Args:
            request: a request to the first address. Its URL and its header `Host` are changed to those of the address
                that is tried.

        Returns:
            The reply of the first address that answers, of any HTTP status. Its body has not been read.

        Raises:
            httpx.TransportError: what the last attempt raised. If the request was lost after it was sent, that attempt
                is the last.
        """
        path = str(request.url)[len(self._urls[0]) :]
        untried = len(self._urls)
        while True:
            at, untried = self._url_index, untried - 1
            request.url = httpx.URL(self._urls[at] + path)
            request.headers["Host"] = request.url.netloc.decode()
            try:
                return await self._inner.handle_async_request(request)
            except httpx.TransportError as error:
                if self._url_index == at:  # others may have moved on already
                    self._url_index = (at + 1) % len(self._urls)
                if not untried or not isinstance(error, _CONNECT_ERRORS):
                    raise
                _log.info("%s does not answer: %s is asked", self._urls[at], self._urls[self._url_index])

    async def aclose(self) -> None:
        """Close the connections to all addresses."""
        await self._inner.aclose()
