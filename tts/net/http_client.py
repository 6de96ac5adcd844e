"""The HTTP client of tools, of pictures by URL, and of map tiles. All their requests go through it.

Each reply has limits: size, decompressed size, time, redirects and content types. There are no cookies. The target of
each redirect is checked like a first request, and a key is never sent to another host.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from importlib.metadata import version
from typing import Any
from urllib.parse import urljoin

import httpx
import orjson

from tts.domain.outgoing_request import Outgoing
from tts.egress.records import EGRESS, RecordOutgoing
from tts.errors import FetchError, FetchErrorKind
from tts.net.fetch_limits import FetchLimits
from tts.net.host_resolution import resolve_with_system
from tts.net.inflate import ACCEPTED, Inflater
from tts.net.secret import Credential, Scrubber
from tts.net.transport import CREDENTIAL, ON_SEND, Resolve, SafeTransport

USER_AGENT = f"geotts/{version('geotts')} (photo geolocation)"
_REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
_MAX_RETRY_AFTER_S = 3600.0


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole reply. `url` is where it finally came from, without keys."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty when the reply names none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """Raises FetchError BAD_CONTENT when it is not JSON."""
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError:
            raise FetchError("the reply is not JSON", kind=FetchErrorKind.BAD_CONTENT) from None


class SafeHttpClient:
    """Fetches from the public internet, and from the hosts its limits names. Safe to share; `aclose()` when done.

    It records each request that it sends, redirects included, in the egress of this process or with `record`.
    """

    def __init__(
        self,
        limits: FetchLimits | None = None,
        *,
        scrubber: Scrubber | None = None,
        record: RecordOutgoing = EGRESS.record,
        record_query: bool = True,
        resolve: Resolve = resolve_with_system,
        verify: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`record_query` is false where the query of a URL may have a key that is not ours (signed URLs). `transport`
        stands in for the network: recorded replies, played back."""
        self.limits = limits or FetchLimits()
        self.scrubber = scrubber or Scrubber()
        self.scrubber.guard("httpcore.connection", "httpcore.http11")
        self._record = record
        self._record_query = record_query
        self._resolve = resolve
        self._verify = verify
        self._transport = transport  # else opened late: reading the certificates takes a while

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | None = None,
        credential: Credential | None = None,
        content_types: Sequence[str] = (),
        max_bytes: int | None = None,
        timeout_s: float | None = None,
        any_status: bool = False,
        request_id: str = "",
    ) -> HttpReply:
        """Fetch a reply of 2xx, or of any status with `any_status`.

        Args:
            url: absolute; http or https.
            content_types: prefixes (`image/`), one of which the type of the reply must have; any if empty.
            max_bytes: limit of the body, on the wire and decompressed; else the limits's.
            timeout_s: for everything together, redirects included; the limits's when absent.
            request_id: whose request this is, for the egress log; nothing is recorded without it.

        Raises:
            FetchError: always with a `kind`; its text is safe to show.
        """
        limit_s = min(timeout_s or self.limits.timeout_s, self.limits.timeout_s)
        request = _build_request(self.limits, method, url, params, headers, json, content, credential, limit_s)
        note = partial(self._record_request, request_id)
        try:
            async with asyncio.timeout(limit_s):
                reply = await self._follow_redirects(request, content_types, max_bytes or self.limits.max_bytes, note)
        except TimeoutError:
            raise FetchError(f"no whole reply within {limit_s:g} s", kind=FetchErrorKind.TIMEOUT) from None
        if not any_status and not 200 <= reply.status < 300:
            raise status_error(reply)
        return reply

    async def aclose(self) -> None:
        """Close all connections. A fetch after that opens new ones, to the network."""
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None

    async def _follow_redirects(
        self,
        request: httpx.Request,
        content_types: Sequence[str],
        max_bytes: int,
        note: Callable[[httpx.Request], None],
    ) -> HttpReply:
        for _ in range(self.limits.max_redirects + 1):
            request.extensions[ON_SEND] = partial(note, request)
            response = await self._open_transport().handle_async_request(request)
            try:
                if response.status_code in _REDIRECT_STATUS and "location" in response.headers:
                    request = self._redirected_request(request, response)
                    continue
                return await self._read_reply(request, response, content_types, max_bytes)
            finally:
                await response.aclose()
        raise FetchError(f"more than {self.limits.max_redirects} redirects", kind=FetchErrorKind.REDIRECTS)

    def _redirected_request(self, request: httpx.Request, response: httpx.Response) -> httpx.Request:
        """The request a redirect asks for: checked, without key and body on another host, never down to plain HTTP."""
        target = urljoin(str(request.url), response.headers["location"])
        self.limits.check(target)
        try:
            url = httpx.URL(target)
        except httpx.InvalidURL:
            raise FetchError("the redirect leads to no URL", kind=FetchErrorKind.BAD_URL) from None
        if request.url.scheme == "https" and url.scheme != "https":
            raise FetchError("a redirect from https to http is not followed", kind=FetchErrorKind.REFUSED)
        same = (url.scheme, url.host, url.port) == (request.url.scheme, request.url.host, request.url.port)
        keep_body = same and response.status_code in (307, 308)
        if request.method != "GET" and not keep_body and response.status_code in (307, 308):
            raise FetchError("a redirect that sends data to another host is not followed", kind=FetchErrorKind.REFUSED)
        extensions = dict(request.extensions)
        if not same:
            extensions.pop(CREDENTIAL, None)
        headers = {"user-agent": request.headers["user-agent"], "accept-encoding": ACCEPTED}
        headers["accept"] = request.headers.get("accept", "*/*")
        method = request.method if keep_body else "GET"
        body = request.content if keep_body else None
        if keep_body and "content-type" in request.headers:
            headers["content-type"] = request.headers["content-type"]
        return httpx.Request(method, url, headers=headers, content=body, extensions=extensions)

    async def _read_reply(
        self, request: httpx.Request, response: httpx.Response, content_types: Sequence[str], max_bytes: int
    ) -> HttpReply:
        self._check_head(response, content_types, max_bytes)
        inflater = Inflater(response.headers.get("content-encoding", ""), max_bytes)
        parts: list[bytes] = []
        seen = 0
        assert isinstance(response.stream, httpx.AsyncByteStream)
        async for part in response.stream:
            seen += len(part)
            if seen > max_bytes:
                raise FetchError(f"the reply is longer than {max_bytes:,} bytes", kind=FetchErrorKind.TOO_LARGE)
            parts.append(inflater.feed(part))
        if seen:
            inflater.finish()
        headers = {name: self.scrubber.scrub(value) for name, value in response.headers.items() if name != "set-cookie"}
        content = self.scrubber.scrub_bytes(b"".join(parts)) if _is_text(headers) else b"".join(parts)
        return HttpReply(self.scrubber.scrub(str(request.url)), response.status_code, headers, content)

    @staticmethod
    def _check_head(response: httpx.Response, content_types: Sequence[str], max_bytes: int) -> None:
        declared = response.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > max_bytes:
            raise FetchError(f"the reply is longer than {max_bytes:,} bytes", kind=FetchErrorKind.TOO_LARGE)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_types and response.is_success and not any(kind.startswith(prefix) for prefix in content_types):
            wanted = " or ".join(content_types)
            raise FetchError(f"the reply is {kind[:60] or 'untyped'}, not {wanted}", kind=FetchErrorKind.BAD_CONTENT)

    def _open_transport(self) -> httpx.AsyncBaseTransport:
        if self._transport is None:
            self._transport = SafeTransport(self.limits, resolve=self._resolve, verify=self._verify)
        return self._transport

    def _record_request(self, request_id: str, request: httpx.Request) -> None:
        outgoing = Outgoing.now(
            host=request.url.host,
            method=request.method,
            url=self.scrubber.scrub(str(request.url)),
            bytes_sent=len(request.content),
            request_id=request_id,
        )
        self._record(outgoing if self._record_query else outgoing.without_query())


def status_error(reply: HttpReply) -> FetchError:
    """A reply that is not 2xx as an error, with its Retry-After."""
    return FetchError(
        f"the server answered {reply.status}",
        kind=FetchErrorKind.STATUS,
        http_status=reply.status,
        retry_after_s=retry_after_s(reply.headers.get("retry-after", "")),
    )


def retry_after_s(value: str) -> float | None:
    """Seconds from a Retry-After header (RFC 9110, 10.2.3): a number or a date; None when there is none."""
    value = value.strip()
    if value.isdigit():
        return min(float(value), _MAX_RETRY_AFTER_S)
    try:
        wait = parsedate_to_datetime(value) - datetime.now(UTC)
    except (ValueError, TypeError):
        return None
    return min(max(wait, timedelta()).total_seconds(), _MAX_RETRY_AFTER_S)


def _build_request(
    limits: FetchLimits,
    method: str,
    url: str,
    params: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    json: Any,
    content: bytes | None,
    credential: Credential | None,
    limit_s: float,
) -> httpx.Request:
    limits.check(url)
    all_headers = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": ACCEPTED, **(headers or {})}
    connect_s = min(limits.connect_timeout_s, limit_s)
    extensions: dict[str, Any] = {
        "timeout": {"connect": connect_s, "read": limit_s, "write": limit_s, "pool": limit_s},
    }
    if credential is not None:
        extensions[CREDENTIAL] = credential
    try:
        target = httpx.URL(url)
        target = target.copy_merge_params(params) if params else target
        return httpx.Request(method, target, headers=all_headers, json=json, content=content, extensions=extensions)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise FetchError("the URL cannot be read", kind=FetchErrorKind.BAD_URL) from None


def _is_text(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").startswith(
        ("text/", "application/json", "application/xml", "application/geo")
    )
