"""The `openai` engine: any endpoint that speaks chat completions, over HTTP, streamed.

Closing the iterator closes the connection, which is how every known server learns to stop generating. Busy, broken or
lost endpoints are asked again, with jitter and no sooner than they say, while nothing of the answer has been passed on
and time is left; afterwards the failure says `transient`, and whoever holds the conversation may repeat the turn.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from functools import lru_cache
from typing import Any

import httpx
import orjson

from tts.aio import Deadline, Limiter
from tts.config import OpenAIEngine
from tts.domain.outgoing import Outgoing
from tts.errors import DeadlineExceeded, GeoTTSError, ModelError, Overloaded
from tts.inference.openai_stream import Completion, SseLines
from tts.inference.openai_wire import body_for
from tts.inference.pictures import PictureCache
from tts.inference.retry import RETRIED_STATUS, Backoff, retry_after_s
from tts.net.secret import Scrubber, Secret
from tts.ports import Delta, ModelRequest

_BODY_END_S = 0.02
_BUSY_STATUS = frozenset({429, 503, 529})


class OpenAIModel:
    """The `ModelClient` over an endpoint. `running` counts generations that have started and not ended."""

    def __init__(self, config: OpenAIEngine, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._config = config
        self._transport = transport
        self._pictures = PictureCache(quality=config.jpeg_quality)
        self._backoff = Backoff(config.backoff_s)
        self._limiter = Limiter(config.max_running, config.max_queued)
        self._http: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._model = config.model
        self._scrubber = Scrubber()
        self._scrubber.guard("httpx", "httpcore.connection", "httpcore.http11")
        self.running = 0

    @property
    def name(self) -> str:
        return self._model or "openai"

    async def aclose(self) -> None:
        """Close idle connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        deadline = Deadline(request.context.remaining_s)
        async with self._limiter.slot():
            self.running += 1
            try:
                async with aclosing(self._persistently(request, deadline)) as deltas:
                    async for delta in deltas:
                        yield delta
            finally:
                self.running -= 1

    async def _persistently(self, request: ModelRequest, deadline: Deadline) -> AsyncGenerator[Delta]:
        attempt = 0
        while True:
            passed_on = False
            try:
                async with aclosing(self._once(request, deadline)) as deltas:
                    async for delta in deltas:
                        passed_on = passed_on or not delta.sent
                        yield delta
                return
            except GeoTTSError as failure:
                if passed_on or not failure.fields.get("transient") or attempt >= self._config.retries:
                    raise
                pause = self._backoff.pause_s(attempt, failure.fields.get("retry_after_s"))
                if pause >= deadline.remaining_s():
                    raise
            await asyncio.sleep(pause)
            attempt += 1

    async def _once(self, request: ModelRequest, deadline: Deadline) -> AsyncGenerator[Delta]:
        """One attempt. Every failure of the connection or the endpoint leaves as one of our errors."""
        if not self._model:
            yield self._leaving("GET", "models", 0, request)
        model = await self._model_name(deadline)
        body = await body_for(request, self._config, model, self._pictures)
        turn = sum(message.role == "assistant" for message in request.messages)
        used = frozenset(call.id for message in request.messages for call in message.tool_calls)
        completion = Completion(turn=turn, used_ids=used)
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "X-Request-Id": request.session_id,
        }
        if request.context.traceparent:
            headers["traceparent"] = request.context.traceparent
        sent = self._client().build_request("POST", self._url("chat/completions"), content=body, headers=headers)
        yield self._leaving("POST", "chat/completions", len(body), request)
        response = await self._waiting(self._client().send(sent, stream=True), deadline, self._config.first_token_s)
        try:
            await self._refuse_errors(response, deadline)
            if "json" in response.headers.get("content-type", ""):
                text = completion.feed_object(await self._whole_object(response, deadline))
                completion.ended = True
                yield Delta(text=text)
            else:
                async with aclosing(self._pieces(response, deadline, completion)) as pieces:
                    lines = SseLines()
                    async for piece in pieces:
                        for data in lines.feed(piece):
                            if text := completion.feed(data):
                                yield Delta(text=text)
            text, last = completion.last()
            if text:
                yield Delta(text=text)
            yield last
        finally:
            await response.aclose()

    async def _pieces(
        self, response: httpx.Response, deadline: Deadline, completion: Completion
    ) -> AsyncGenerator[bytes]:
        """Raw bytes as they come; the first may take longer than the next.

        After the last one of the completion the end of the body is awaited for a moment, no longer: a connection read
        to its end serves the next turn too.
        """
        source = response.aiter_bytes()
        patience_s = self._config.first_token_s
        while (piece := await self._waiting(anext(source, b""), deadline, patience_s)) != b"":
            yield piece
            if completion.ended:
                with suppress(GeoTTSError):
                    await self._waiting(anext(source, b""), deadline, _BODY_END_S)
                return
            patience_s = self._config.idle_s

    async def _waiting(self, awaitable: Any, deadline: Deadline, patience_s: float) -> Any:
        """Wait for the network: at most `patience_s`, never beyond the deadline, and name what went wrong."""
        try:
            async with deadline.timeout(at_most_s=patience_s):
                return await awaitable
        except TimeoutError as late:
            if deadline.passed:
                raise DeadlineExceeded("the endpoint did not finish in time") from late
            raise ModelError(f"the endpoint was silent for {patience_s:g} s", transient=True) from late
        except httpx.InvalidURL as error:
            raise ModelError("the address of the endpoint is no URL") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise ModelError(
                f"the connection to the endpoint failed: {type(error).__name__}", transient=True
            ) from error

    async def _refuse_errors(self, response: httpx.Response, deadline: Deadline) -> None:
        """Raises for every status but 200: Overloaded, or ModelError with what the endpoint says about it."""
        status = response.status_code
        if status == httpx.codes.OK:
            return
        raw = await self._waiting(response.aread(), deadline, self._config.idle_s)
        said = _said(self._scrubber.scrub_bytes(raw))
        detail = f"the endpoint answered {status}{said and ': ' + said}"
        after = retry_after_s(response.headers.get("retry-after"))
        if status in _BUSY_STATUS:
            raise Overloaded(detail, retry_after_s=1.0 if after is None else after, transient=True)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise ModelError(f"{detail} (the key is taken from ${self._config.api_key_env})")
        raise ModelError(detail, transient=status in RETRIED_STATUS, retry_after_s=after)

    async def _whole_object(self, response: httpx.Response, deadline: Deadline) -> dict[str, Any]:
        """The body of an endpoint that does not stream."""
        raw = await self._waiting(response.aread(), deadline, self._config.first_token_s)
        try:
            found = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise ModelError("the endpoint sent no completion", transient=True) from error
        if not isinstance(found, dict):
            raise ModelError("the endpoint sent no completion")
        return found

    async def _model_name(self, deadline: Deadline) -> str:
        """The configured model, or the first one the endpoint lists."""
        if not self._model:
            response = await self._waiting(self._client().get(self._url("models")), deadline, self._config.idle_s)
            await self._refuse_errors(response, deadline)
            self._model = _first_model(response.content)
        return self._model

    def _leaving(self, method: str, path: str, size: int, request: ModelRequest) -> Delta:
        """Tells what is about to be sent: even when the caller is cancelled while it goes, it is on record."""
        host, url = _bare(self._url(path))
        sent = Outgoing.now(host=host, method=method, url=url, bytes_sent=size, request_id=request.context.id)
        return Delta(sent=(sent,))

    def _url(self, path: str) -> str:
        return f"{self._config.base_url.rstrip('/')}/{path}"

    def _client(self) -> httpx.AsyncClient:
        """One client a loop: connections belong to the loop they were opened in."""
        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            key = os.environ.get(self._config.api_key_env, "")
            self._scrubber.learn(Secret(key))
            self._loop = loop
            self._http = httpx.AsyncClient(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=httpx.Timeout(None, connect=self._config.connect_s),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=self._config.max_running),
                transport=self._transport,
                trust_env=False,
            )
        return self._http


@lru_cache(maxsize=16)
def _bare(url: str) -> tuple[str, str]:
    """The host of a URL, and the URL without what may be a secret."""
    bare = httpx.URL(url).copy_with(userinfo=b"", query=None)
    return bare.host, str(bare)


def _first_model(raw: bytes) -> str:
    try:
        listed = orjson.loads(raw)["data"]
        return str(listed[0]["id"])
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as error:
        raise ModelError("the endpoint lists no model: name one in the configuration") from error


def _said(raw: bytes) -> str:
    """What an error body says, shortened: servers wrap it differently."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return ""
    if isinstance(body, dict):
        error = body.get("error", body)
        message = error.get("message", "") if isinstance(error, dict) else error
        return str(message)[:200]
    return ""
