"""Builds and sends the HTTP requests of a client, and turns refusals into exceptions."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from geotts_client.errors import ConfigError, DeadlineExceeded, ServerUnreachable
from geotts_client.failover import Failover
from geotts_client.form_fields import AnyOptions, form_fields
from geotts_client.reply_errors import refusal

CONNECT_S = 5.0
QUIET_S = 12.0  # the server sends heartbeats every 5 s; one that is cut off says nothing
TOO_LONG = "the request took longer than the client's timeout_s"
SSE = {"Accept": "text/event-stream"}


class Sender:
    """Builds and sends the HTTP requests of one client. `http` sends requests whose replies are read as streams.

    Args:
        url, api_key, timeout_s, transport: as in `Client`.

    Raises:
        ConfigError: `api_key` has characters that no key has.
    """

    def __init__(
        self, url: str, *, api_key: str | None, timeout_s: float | None, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        urls = [one.strip().rstrip("/") for one in url.split(",")]
        self._url = urls[0]
        if len(urls) > 1:
            transport = Failover(urls, transport)
        self.timeout_s = timeout_s
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigError("the API key has characters that no key has; was it copied whole?")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        timeout = httpx.Timeout(timeout_s, connect=CONNECT_S, read=QUIET_S)
        self.http = httpx.AsyncClient(headers=headers, timeout=timeout, transport=transport)

    def post(self, path: str, photos: list[bytes], options: AnyOptions, headers: dict[str, str]) -> httpx.Request:
        """Build the HTTP request that starts a request of the service; nothing is sent.

        Args:
            path: the route, without a slash at the beginning.
            photos: the bytes of each picture file; none for a continued request without further photos.
            options: only those that are set are sent.
            headers: headers of this HTTP request alone.

        Returns:
            A multipart form, or JSON if there are no photos.
        """
        fields = form_fields(options)
        if not photos:  # httpx writes no multipart body without a file
            body = options.model_dump(mode="json", include=set(fields))
            return self.http.build_request("POST", f"{self._url}/{path}", json=body, headers=headers)
        files = [("image", photo) for photo in photos]
        return self.http.build_request("POST", f"{self._url}/{path}", files=files, data=fields, headers=headers)

    def build(self, method: str, request_id: str, path: str = "", **more: Any) -> httpx.Request:
        """Build an HTTP request about a request of the service that was started before; nothing is sent.

        Args:
            method: GET or DELETE.
            request_id: the request of the service.
            path: what follows its address, with a slash at the beginning; empty for the address itself.
            more: further arguments of `httpx.AsyncClient.build_request`, such as `headers`.

        Returns:
            The HTTP request, without a body.
        """
        return self.http.build_request(method, f"{self._url}/locate/{request_id}{path}", **more)

    def events_after(self, request_id: str, after: int) -> httpx.Request:
        """Build the HTTP request for a stream of events; nothing is sent.

        Args:
            request_id: the request of the service.
            after: the `seq` of the last event that is known; 0 for all events.

        Returns:
            A GET that asks for server-sent events.
        """
        return self.build("GET", request_id, "/events", headers={**SSE, "Last-Event-ID": str(after)})

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request, within the time limit of the client.

        Args:
            request: what `post`, `build` or `events_after` made.

        Returns:
            The whole reply, with a status of success.

        Raises:
            DeadlineExceeded: `timeout_s` has passed.
            GeoTTSError: what `reply_to` raises.
        """
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self.reply_to(request)
        except TimeoutError:
            raise DeadlineExceeded(TOO_LONG) from None

    async def reply_to(self, request: httpx.Request) -> httpx.Response:
        """Send a request, without the time limit of the client.

        Args:
            request: what `post`, `build` or `events_after` made.

        Returns:
            The whole reply, with a status of success.

        Raises:
            ServerUnreachable: no service answers at the address.
            GeoTTSError: the service refused; the class is that of `refusal`.
        """
        try:
            reply = await self._connect_and_send(request)
        except httpx.HTTPError as error:
            raise self.unreachable(error) from error
        if not reply.is_success:
            raise refusal(reply.status_code, reply.content, reply.headers)
        return reply

    async def _connect_and_send(self, request: httpx.Request) -> httpx.Response:
        """Try to connect a second time when the first attempt took too long: nothing has been sent by then.

        A machine that stood still for as long looks the same as a service that is gone.
        """
        try:
            return await self.http.send(request)
        except httpx.ConnectTimeout:
            return await self.http.send(request)

    def unreachable(self, error: Exception) -> ServerUnreachable:
        """Make the error for a service that does not answer.

        Args:
            error: what the transport raised.

        Returns:
            It names the first address and the reason.
        """
        return ServerUnreachable(f"{self._url} did not answer: {str(error) or type(error).__name__}")
