"""Gives every request an id, a line in the log and a count in the metrics. Pure ASGI, so that streams are not
buffered."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deployments.observability.metrics import Metrics

_log = logging.getLogger("geotts.access")
_REQUEST_ID_NAME = "geotts.request_id"
_SECURITY_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))


def name_in_log(scope: MutableMapping[str, Any], request_id: str) -> None:
    """Says under which id an exchange is known, also if it ends in an error."""
    scope[_REQUEST_ID_NAME] = request_id


class AccessLog:
    """Gives each reply an `X-Request-Id`, unless the route has: a request's own id is also its name in the log, and its
    refusal's.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an HTTP exchange on; log and count it when it has ended, also by an exception."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send, self._metrics)
        try:
            await self._app(scope, receive, exchange.send)
        finally:
            self._record_reply(scope, exchange)

    def _record_reply(self, scope: Scope, exchange: _Exchange) -> None:
        route = getattr(scope.get("route"), "path", "none")
        seconds = time.perf_counter() - exchange.started
        self._metrics.http.labels(route, str(exchange.status or 499)).inc()
        self._metrics.http_seconds.labels(route).observe(seconds)
        _log.info(
            "%s %s %s",
            scope["method"],
            route,
            exchange.status or "disconnected",
            extra={
                "request_id": exchange.request_id,
                "route": route,
                "status": exchange.status,
                "seconds": round(seconds, 4),
                "bytes_out": exchange.size,
            },
        )


class _Exchange:
    """One reply as it goes out."""

    def __init__(self, scope: Scope, send: Send, metrics: Metrics) -> None:
        self._scope = scope
        self._send = send
        self._metrics = metrics
        self._is_stream = False
        self.started = time.perf_counter()
        self.status = 0
        self.size = 0
        self.request_id = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = self._start_reply(message)
        elif message["type"] == "http.response.body":
            if self._is_stream and not self.size and message.get("body"):
                self._metrics.first_event.observe(time.perf_counter() - self.started)
            self.size += len(message.get("body", b""))
        await self._send(message)

    def _start_reply(self, message: Message) -> Message:
        headers = list(message.get("headers", ()))
        names = dict(headers)
        self.status = message["status"]
        self._is_stream = names.get(b"content-type", b"").startswith((b"text/event-stream", b"application/x-ndjson"))
        named = names.get(b"x-request-id", b"").decode() or self._scope.get(_REQUEST_ID_NAME)
        self.request_id = named or "req_" + secrets.token_hex(10)
        if b"x-request-id" not in names:
            headers.append((b"x-request-id", self.request_id.encode()))
        headers.extend(_SECURITY_HEADERS)
        return {**message, "headers": headers}
