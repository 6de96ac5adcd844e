"""Headers by which a client could steer Ray Serve itself are dropped before Serve sees them.

Serve honours `x-request-timeout-seconds` (also upwards), `x-request-disconnect-disabled` (which would keep abandoned
work running) and model ids; none of them is part of our interface.
"""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

_DROPPED = frozenset(
    {b"x_request_timeout_seconds", b"x_request_disconnect_disabled", b"serve_multiplexed_model_id", b"x_session_id"}
)


class DropServeHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {
                **scope,
                "headers": [(k, v) for k, v in scope["headers"] if k.lower().replace(b"-", b"_") not in _DROPPED],
            }
        await self._app(scope, receive, send)


def middlewares() -> list[Middleware]:
    """What Serve calls through RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH."""
    return [Middleware(DropServeHeaders)]
