"""Drops headers with which a client could control Ray Serve itself.

Serve honours `x-request-timeout-seconds` (also upwards), `x-request-disconnect-disabled` (which would keep abandoned
work running) and model ids; none of them is part of our interface. On the way back Serve puts an `X-Request-Id` of its
own behind ours; clients join the two into a name that no request has, so only the first goes out.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deployments.config import ConnectionLimits
from deployments.http.server import head_limits as http_limits

_DROPPED_HEADERS = frozenset(
    {b"x_request_timeout_seconds", b"x_request_disconnect_disabled", b"serve_multiplexed_model_id", b"x_session_id"}
)


_REQUEST_ID_HEADER = b"x-request-id"


class DropServeHeaders:
    """Drops from requests the headers that steer Serve, and from replies every `X-Request-Id` but the first."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the exchange on with its headers filtered."""
        if scope["type"] == "http":
            scope = {
                **scope,
                "headers": [
                    (k, v) for k, v in scope["headers"] if k.lower().replace(b"-", b"_") not in _DROPPED_HEADERS
                ],
            }

        async def once_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _keep_first_request_id(message.get("headers", ()))}
            await send(message)

        await self._app(scope, receive, once_named)


def _keep_first_request_id(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept, named = [], False
    for name, value in headers:
        if name.lower() == _REQUEST_ID_HEADER:
            if named:
                continue
            named = True
        kept.append((name, value))
    return kept


def middlewares() -> list[Middleware]:
    """What Serve calls through RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH, right before it starts an HTTP server. A
    proxy, which does not know our configuration, gets the limits that this has by default.
    """
    if not http_limits.is_installed():
        http_limits.install(ConnectionLimits())
    return [Middleware(DropServeHeaders)]
