"""Limits of a fetch: schemes, ports, private hosts, size, time and redirects."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from tts.domain.value import Value
from tts.errors import FetchError, FetchErrorKind

_MAX_URL_CHARS = 8192
_DEFAULT_PORTS = {"https": 443, "http": 80}


class FetchLimits(Value):
    """Limits of one client. `allow_hosts` are `host:port` pairs that may be private: a server the operator named."""

    schemes: frozenset[str] = frozenset({"https", "http"})
    ports: frozenset[int] = frozenset({80, 443})
    allow_hosts: frozenset[str] = frozenset()
    max_bytes: Annotated[int, Field(ge=1)] = 20 * 2**20
    timeout_s: Annotated[float, Field(gt=0)] = 10.0
    connect_timeout_s: Annotated[float, Field(gt=0)] = 4.0
    max_redirects: Annotated[int, Field(ge=0)] = 4
    max_connections: Annotated[int, Field(ge=1)] = 64

    def check(self, url: str) -> tuple[str, int]:
        """Host and port of a URL that may be tried; the address is judged later, when it is known.

        Raises:
            FetchError: BAD_URL or REFUSED.
        """
        if len(url) > _MAX_URL_CHARS or any(ord(c) <= 0x20 or ord(c) == 0x7F or c == "\\" for c in url):
            raise FetchError("the URL is too long or has characters no URL has", kind=FetchErrorKind.BAD_URL)
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise FetchError("the URL cannot be read", kind=FetchErrorKind.BAD_URL) from None
        if parts.scheme not in self.schemes:
            raise FetchError(f"only {', '.join(sorted(self.schemes))} URLs are fetched", kind=FetchErrorKind.REFUSED)
        if not host or parts.username is not None or parts.password is not None:
            raise FetchError("the URL must name a host and no user", kind=FetchErrorKind.BAD_URL)
        port = _DEFAULT_PORTS.get(parts.scheme, 0) if port is None else port
        if port not in self.ports and not self.allows(host, port):
            raise FetchError(f"port {port} is not fetched from", kind=FetchErrorKind.REFUSED)
        return host, port

    def allows(self, host: str, port: int) -> bool:
        """Whether the operator named this very host and port."""
        return f"{host.lower()}:{port}" in self.allow_hosts
