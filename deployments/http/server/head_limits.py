"""The HTTP server under Serve, with limits for the head of a request.

uvicorn's own protocol reads request lines and header fields without limits of size, number and time. `LimitedHttp`
enforces the limits of `gateway.connections` before the key is checked. It also answers clients that have
closed their sending side only, and sends HTTP/1.0 clients no chunks.

Serve starts uvicorn with `http="auto"`; `install` sets what that stands for.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, ClassVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deployments.config import ConnectionLimits
from deployments.http.server.connections import Connections, State
from deployments.seam.uvicorn import STATUS_LINE, HttpConnection, Reply, default_protocol, set_default_protocol
from tts.api.schema import problem_of

_OWN_PROTOCOL = "deployments.http.server.head_limits:LimitedHttp"
_LINGER_S = 1.0  # a refusal is read before the connection is reset
_LINGER_BYTES = 256 * 1024
_PROBE_PAUSES_S = (0.01, 0.05, 0.2, 0.8, 2.0, 5.0)  # after the client's end of sending; the last goes on
_HTTP_1_0_TIMEOUT_S = 2.0  # HTTP/1.0 has no interim replies to probe with
_MAX_PIPELINED = 32  # requests sent before the one at work is answered: one read may hold thousands
_STALL_TIMEOUT_S = 300.0  # a reply of which the client takes nothing for this long is given up
_PROBES_OF_STREAMS = {b"text/event-stream": b":\n\n", b"application/x-ndjson": b"\n"}
_PROBLEM_CODES = {400: "malformed", 408: "head-timeout", 414: "head-too-large", 431: "head-too-large"}


class _RefusedHead(Exception):
    """Raised in the parser's callbacks: the parser stops, uvicorn asks for a 400."""


class LimitedHttp(HttpConnection):
    """One connection. `_head_bytes` and `_head_fields` count the head that is being read."""

    gate: ClassVar[Connections] = Connections(ConnectionLimits())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.without_websockets()  # there is none here; its own protocol would have no limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport  # from `connection_made` on
        self._gate = self.gate
        self._limits = self.gate.limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._probe_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._has_begun = False  # a byte of a request was read
        self._in_head = True
        self._has_progress = False
        self._unparsed_bytes = 0  # bytes since the parser came to the end of anything
        self._head_bytes = 0
        self._head_fields = 0
        self._status = 400
        self._has_refused = False
        self._probe_bytes: bytes | None = None  # what may be put into the stream in progress
        self._lasts_until_close = False
        self._closes_early = False  # the reply in progress ends the connection in the middle of the body

    def drop(self) -> None:
        """Close at once, without a reply: `Connections` calls this to make room."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close at once unless `Connections` admits it; otherwise start the time limit for a head."""
        super().connection_made(transport)
        self._transport = transport
        if not self._gate.admit(self, self.peer_host):
            transport.abort()
            return
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave `Connections` and cancel all timers."""
        self._gate.leave(self)
        for timer in (self._head_timer, self._probe_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = None
        self._probe_timer = None
        self._stall_timer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse; refuse what does not end within `max_head_bytes`. After a refusal data are dropped unread."""
        if self._has_refused:
            self._unparsed_bytes += len(data)
            if self._unparsed_bytes > _LINGER_BYTES:
                self._transport.abort()
            return
        self._has_progress = False
        super().data_received(data)
        if self._has_refused or self._transport.is_closing():
            return
        # a head, a chunk's size or trailers that do not end; what began in these data counts from the next on
        self._unparsed_bytes = 0 if self._has_progress else self._unparsed_bytes + len(data)
        if self._unparsed_bytes > self._limits.max_head_bytes:
            self._refuse(431 if self._in_head else 400)
        elif self._in_head or not self.is_answering:
            self._start_timer()
        elif self._head_timer is not None:
            self._stop_timer()

    def on_message_begin(self) -> None:
        """Count the bytes and fields of the new head from zero."""
        super().on_message_begin()
        self._has_begun = True
        self._in_head = True
        self._has_progress = True
        self._head_bytes = 0
        self._head_fields = 0

    def on_url(self, url: bytes) -> None:
        """Count the bytes of the request target; too many are refused with 414."""
        self._count_head_bytes(len(url), 414)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header or trailer field; too many bytes or fields are refused with 431. Trailers are dropped."""
        self._head_fields += 1
        self._count_head_bytes(len(name) + len(value) + 4, 431)
        if self._head_fields > self._limits.max_head_fields:
            self._status = 431
            raise _RefusedHead
        if self._in_head:  # trailers are counted, and nobody reads them
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Mark the connection as busy; refuse a request while 32 before it wait to be answered."""
        if self.n_waiting >= _MAX_PIPELINED:
            raise _RefusedHead
        self._in_head = False
        self._has_progress = True
        self._gate.set_state(self, State.BUSY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Note progress, so that these bytes do not count as a head or chunk size without an end."""
        self._has_progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note progress, as `on_body` does."""
        self._has_progress = True
        super().on_message_complete()

    def reply_ended(self) -> None:
        """Mark the connection as idle, or as busy when a pipelined request follows; linger if it closes early."""
        self._gate.set_state(self, State.BUSY if self.n_waiting or self.is_answering else State.IDLE)
        if self._closes_early:
            self._linger()

    def refuse_malformed(self) -> None:
        """Send our problem document, with the status of the limit that was exceeded."""
        self._refuse(self._status)

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """The client sends no more. Only sending something can show whether it still reads."""
        reply = self.last_reply
        if self._in_head or reply is None or reply.is_complete or reply.lacks_body:
            return None
        if reply.is_http_1_0:
            self._probe_timer = self._loop.call_later(_HTTP_1_0_TIMEOUT_S, self._transport.close)
        else:
            self._send_probe(reply, 0)
        reply.keep_connection(False)
        return True

    def pause_writing(self) -> None:
        """Start the time limit of 300 s for a client that takes nothing of its reply."""
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self._loop.call_later(_STALL_TIMEOUT_S, self._transport.abort)

    def resume_writing(self) -> None:
        """Cancel the time limit of `pause_writing`: the client reads again."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _count_head_bytes(self, size: int, status: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.max_head_bytes:
            self._status = status
            raise _RefusedHead

    def _start_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self._loop.call_later(self._limits.head_timeout_s, self._end_slow_head)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_slow_head(self) -> None:
        self._head_timer = None
        if self._in_head and self._has_begun:
            self._refuse(408)
        else:
            self._transport.abort()  # not a byte of a request, or the rest of one that is answered already

    def _refuse(self, status: int) -> None:
        """Answer, and close once the client had time to read it: unread data would reset the connection before."""
        self._has_refused = True
        self._unparsed_bytes = 0
        self._stop_timer()
        if self._transport.is_closing():
            return
        reply = self.last_reply
        if reply is not None and not reply.is_complete:
            if reply.has_started:
                self._transport.abort()
                return
            reply.disconnect()
        body = problem_of(_PROBLEM_CODES[status], status, self._refusal_text(status)).json_bytes()
        head = b"content-type: application/problem+json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self._transport.writelines([STATUS_LINE[status], head, body])
        self._linger()

    def _linger(self) -> None:
        """Nothing that comes is read any more; the client has a moment to read what was sent."""
        self._has_refused = True
        self._unparsed_bytes = 0
        self._stop_timer()
        self._head_timer = self._loop.call_later(_LINGER_S, self._transport.abort)

    def _refusal_text(self, status: int) -> str:
        limits = self._limits
        if status == 408:
            return f"the request line and header fields did not arrive within {limits.head_timeout_s:g} s"
        if status in (414, 431):
            return (
                f"request line and header fields together may have {limits.max_head_bytes:,} bytes"
                f" and {limits.max_head_fields} fields"
            )
        return "this is not HTTP/1.1, or not as RFC 9112 writes it"

    def _send_probe(self, reply: Reply, number: int) -> None:
        """To a client that is gone the first is answered with a reset, and the second ends the connection."""
        if reply.is_complete or self._transport.is_closing():
            return
        if not reply.has_started:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        elif reply.is_chunked and self._probe_bytes is not None:
            self._transport.write(b"%x\r\n%b\r\n" % (len(self._probe_bytes), self._probe_bytes))
        pause_s = _PROBE_PAUSES_S[min(number, len(_PROBE_PAUSES_S) - 1)]
        self._probe_timer = self._loop.call_later(pause_s, self._send_probe, reply, number + 1)

    async def serve_request(self, reply: Reply, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it unless a caller behind a proxy has too many at work."""
        caller = self._forwarded_caller(scope)
        if not self._gate.begin_request(caller):
            await _refuse_too_many(send)
            return
        self._probe_bytes = None
        try:
            await app(scope, receive, partial(self._send_message, reply, send))
        finally:
            self._gate.end_request(caller)

    async def _send_message(self, reply: Reply, send: Send, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message.get("headers", ()))
            kind = headers.get(b"content-type", b"").partition(b";")[0]
            self._probe_bytes = _PROBES_OF_STREAMS.get(kind)
            self._lasts_until_close = reply.is_http_1_0 and b"content-length" not in headers
            if self._lasts_until_close:
                reply.send_without_chunks()  # the end of the connection is the end of the reply
        elif self._lasts_until_close:
            reply.expect_bytes(len(message.get("body", b"")))
        await send(message)
        if message["type"] == "http.response.start":
            self._closes_early = reply.lacks_body and not reply.keeps_connection
            if self._closes_early:
                reply.keep_connection(True)  # uvicorn would close at once, before the client could read the reply

    def _forwarded_caller(self, scope: Scope) -> str:
        """The caller that a trusted proxy names; empty for everyone else."""
        named = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        if not named:
            return ""
        return self._gate.forwarded_for(self.peer_host, named.decode("latin-1"))


def install(limits: ConnectionLimits) -> None:
    """Every server that this process starts from now on has these limits."""
    LimitedHttp.gate = Connections(limits)
    set_default_protocol(_OWN_PROTOCOL)


def is_installed() -> bool:
    """Whether servers that this process starts have the limits, because `install` was called."""
    return default_protocol() == _OWN_PROTOCOL


async def _refuse_too_many(send: Send) -> None:
    body = problem_of("too-many-requests", 429, "too many requests of your address are at work").json_bytes()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"2"),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body})
