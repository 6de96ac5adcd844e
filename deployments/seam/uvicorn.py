"""The internals of uvicorn that `deployments.http.server.head_limits` rests on.

uvicorn has no public interface for what a connection may send before its request is served, nor for the state of a
reply that is being sent. `HttpConnection` and `Reply` give both under names of our own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import uvicorn.config
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE as STATUS_LINE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle


class Reply:
    """A request that was read, and the reply to it."""

    __slots__ = ("_cycle",)

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle

    @property
    def is_http_1_0(self) -> bool:
        """Whether the client speaks HTTP/1.0."""
        return self._cycle.scope["http_version"] == "1.0"

    @property
    def lacks_body(self) -> bool:
        """Whether the body of the request has not come to its end."""
        return self._cycle.more_body

    @property
    def has_started(self) -> bool:
        """Whether its status line was sent."""
        return self._cycle.response_started

    @property
    def is_complete(self) -> bool:
        """Whether all of it was sent."""
        return self._cycle.response_complete

    @property
    def is_chunked(self) -> bool:
        """Whether its body is sent in chunks."""
        return bool(self._cycle.chunked_encoding)

    @property
    def keeps_connection(self) -> bool:
        """Whether the connection stays open after it."""
        return self._cycle.keep_alive

    def keep_connection(self, keep: bool) -> None:
        """Keep the connection open after it, or let uvicorn close it."""
        self._cycle.keep_alive = keep

    def send_without_chunks(self) -> None:
        """Send its body as it is."""
        self._cycle.chunked_encoding = False

    def expect_bytes(self, size: int) -> None:
        """Say how long the rest of its body is, which uvicorn checks."""
        self._cycle.expected_content_length = size

    def disconnect(self) -> None:
        """Tell the application that the client is gone."""
        self._cycle.disconnected = True
        self._cycle.message_event.set()


class HttpConnection(HttpToolsProtocol, ABC):
    """One connection of a client. A subclass gives `refuse_malformed`, and may override `serve_request`, `reply_ended`,
    and what asyncio and httptools call."""

    async def serve_request(self, reply: Reply, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Called for each request; `app` is the application."""
        await app(scope, receive, send)

    @abstractmethod
    def refuse_malformed(self) -> None:
        """Called when the parser stopped, because of the data or of an exception in one of its callbacks."""

    def reply_ended(self) -> None:
        """Called when a reply was sent, and the next pipelined request, if there is one, was begun."""

    @property
    def peer_host(self) -> str:
        """The address of the client; empty for a Unix socket."""
        return self.client[0] if self.client else ""

    @property
    def n_waiting(self) -> int:
        """Pipelined requests that were read, and wait for the reply before them."""
        return len(self.pipeline)

    @property
    def is_answering(self) -> bool:
        """Whether the last request that was read has not been answered to its end."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def last_reply(self) -> Reply | None:
        """The reply to the last request that was read."""
        return None if self.cycle is None else Reply(self.cycle)

    def without_websockets(self) -> None:
        """Serve a request for a WebSocket as any other one."""
        self.ws_protocol_class = None

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for a request that its parser refuses."""
        self.refuse_malformed()

    def on_response_complete(self) -> None:
        """Called by uvicorn when a reply was sent."""
        super().on_response_complete()
        self.reply_ended()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        super()._start_asgi_task(cycle, partial(self.serve_request, Reply(cycle), app))


def set_default_protocol(path: str) -> None:
    """Set what `http="auto"`, as Serve has it, stands for from now on in this process: `module:Class`."""
    uvicorn.config.HTTP_PROTOCOLS["auto"] = path


def default_protocol() -> str | type:
    """What `http="auto"` stands for now."""
    return uvicorn.config.HTTP_PROTOCOLS["auto"]
