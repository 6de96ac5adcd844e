"""An httpx transport that connects to checked addresses only and adds keys where nothing logs them.

A name is resolved once, all its addresses are checked, and the connection goes to one of these addresses; Host
header and TLS server name stay those of the URL. So nothing can change between the check and the use (DNS rebinding),
and the target of a redirect is checked like a first request. Proxies of the environment are not used: they would
resolve anew.
"""

from __future__ import annotations

import asyncio
import ssl
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import contextmanager
from functools import lru_cache

import httpcore
import httpx

from tts.errors import FetchError, FetchErrorKind
from tts.net.closing_backend import ClosingBackend
from tts.net.fetch_limits import FetchLimits
from tts.net.public_addresses import refusal
from tts.net.secret import Credential

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
CREDENTIAL = "geotts.credential"  # key of the request extension that carries a Credential
ON_SEND = "geotts.on_send"  # key of the extension that is called, without arguments, when the request goes out
_REQUEST_STARTED = "send_request_headers.started"
_MAX_ADDRESSES = 4


@lru_cache(maxsize=1)
def _public_roots() -> ssl.SSLContext:
    """Certificates are read once a process: that takes 50 ms."""
    return httpx.create_ssl_context(trust_env=False)


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Opens TCP connections to public addresses, or to hosts the limits names."""

    def __init__(self, limits: FetchLimits, resolve: Resolve) -> None:
        self._limits = limits
        self._resolve = resolve
        self._network = ClosingBackend()

    async def connect_tcp(
        self, host: str, port: int, *args: typing.Any, **options: typing.Any
    ) -> httpcore.AsyncNetworkStream:
        """Resolve the name, judge all its addresses, and connect to the first of them that answers; four are tried.

        Raises:
            FetchError: DNS or REFUSED, before anything is connected.
            httpcore.ConnectError, httpcore.ConnectTimeout: of the last address that was tried.
        """
        addresses = await self._checked_addresses(host, port)
        last: Exception = httpcore.ConnectError("there is no address")
        for address in addresses[:_MAX_ADDRESSES]:
            try:
                return await self._network.connect_tcp(address, port, *args, **options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last

    async def _checked_addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise _not_public_error(host, FetchErrorKind.DNS) from None
        if self._limits.allows(host, port):
            return addresses
        if any(refusal(address) is not None for address in addresses):
            raise _not_public_error(host, FetchErrorKind.REFUSED)
        return addresses

    async def connect_unix_socket(self, *args: typing.Any, **kwargs: typing.Any) -> httpcore.AsyncNetworkStream:
        """Always raises FetchError REFUSED."""
        raise FetchError("sockets of the file system are not fetched from", kind=FetchErrorKind.REFUSED)

    async def sleep(self, seconds: float) -> None:
        """How httpcore waits."""
        await asyncio.sleep(seconds)


def _not_public_error(host: str, kind: FetchErrorKind) -> FetchError:
    """One text for names that do not exist and for those inside: it must not tell a stranger which there are."""
    return FetchError(f"{host[:100]!r} is no host on the public internet", kind=kind)


class SafeTransport(httpx.AsyncBaseTransport):
    """The one way out. Failures are `FetchError`s whose text has no URL."""

    def __init__(self, limits: FetchLimits, *, resolve: Resolve, verify: ssl.SSLContext | None = None) -> None:
        self._limits = limits
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=verify or _public_roots(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_connections,
            keepalive_expiry=15.0,
            network_backend=PinnedBackend(limits, resolve),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request that the limits allows, with its key added. The body of the response is still to be read."""
        self._limits.check(str(request.url))
        url, headers = _url_and_headers(request)
        with _map_fetch_errors():
            reply = await self._pool.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    url=url,
                    headers=headers,
                    content=request.stream,
                    extensions={"timeout": request.extensions.get("timeout", {}), "trace": _make_trace(request)},
                )
            )
        assert isinstance(reply.stream, typing.AsyncIterable)
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply.stream))

    async def aclose(self) -> None:
        """Close all connections of the pool."""
        await self._pool.aclose()


def _make_trace(request: httpx.Request) -> Callable[[str, object], Awaitable[None]]:
    """Tells `ON_SEND` when the connection stands: a host that was refused or not found got nothing."""

    async def trace(event: str, _: object) -> None:
        if event.endswith(_REQUEST_STARTED) and (on_send := request.extensions.get(ON_SEND)) is not None:
            on_send()

    return trace


class _Body(httpx.AsyncByteStream):
    """The body as it came over the wire."""

    def __init__(self, stream: typing.AsyncIterable[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _map_fetch_errors():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


def _url_and_headers(request: httpx.Request) -> tuple[httpcore.URL, list[tuple[bytes, bytes]]]:
    """URL and headers for the wire: the only place where a key is in them."""
    url, headers = request.url, list(request.headers.raw)
    credential: Credential | None = request.extensions.get(CREDENTIAL)
    if credential is not None:
        value = credential.prefix + credential.secret.reveal()
        if credential.where == "query":
            url = url.copy_merge_params({credential.name: value})
        else:
            headers.append((credential.name.encode(), value.encode()))
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path), headers


@contextmanager
def _map_fetch_errors() -> typing.Iterator[None]:
    """httpcore's exceptions as ours; their messages are dropped, for they may quote what was sent."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise FetchError("the server did not answer in time", kind=FetchErrorKind.TIMEOUT) from error
    except httpcore.ConnectError as error:
        kind = FetchErrorKind.TLS if _is_tls_error(error) else FetchErrorKind.CONNECT
        raise FetchError("no connection could be made", kind=kind) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
        raise FetchError("the connection broke or the reply is not HTTP", kind=FetchErrorKind.BROKEN) from error
    except ssl.SSLError as error:
        raise FetchError("the TLS connection failed", kind=FetchErrorKind.TLS) from error


def _is_tls_error(error: BaseException | None) -> bool:
    """Whether a TLS failure lies behind an error."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
