"""A chat-completions endpoint on loopback that plays what a test tells it to, well or badly, byte by byte.

A play is a function from (body, number of the request) to steps: dicts are streamed as SSE data, bytes go out as
they are, floats are pauses, `CUT` drops the connection in the middle of a chunk, a `Reply` answers without a stream.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

CUT = object()
DONE = b"data: [DONE]\n\n"


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Play = Callable[[dict[str, Any], int], Iterable[Any] | Reply]


@dataclass
class Endpoint:
    """What the server saw: bodies, headers, connections that are open, and those the client closed on it."""

    url: str
    play: Play
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    streaming: int = 0
    hung_up: int = 0
    connections: int = 0
    pages: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    fields = {**({} if content is None else {"content": content}), **delta}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def usage(prompt: int | None = None, completion: int = 10, cached: int | None = None) -> dict[str, Any]:
    """The chunk with the usage; without `prompt` the endpoint counts what it was sent, a token four bytes."""
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, **details}}


def text_chunks(text: str, *more: Any, finish: str = "stop") -> list[Any]:
    """A text word by word, then further steps, a reason, usage and the end."""
    words = [word + " " for word in text.split(" ")]
    end = [chunk(finish=finish), usage(completion=len(words)), DONE]
    return [chunk(role="assistant", content=""), *map(chunk, words), *more, *end]


@asynccontextmanager
async def serving(play: Play, pages: dict[str, Any] | None = None, port: int = 0) -> AsyncIterator[Endpoint]:
    """Run the endpoint until the block ends; connections that are still open then are dropped.

    `pages` are what other paths than chat completions answer: a `Reply`, JSON, or a function of the body that gives
    one of them; any other path is not there.
    """
    handlers: set[asyncio.Task[Any]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        endpoint.connections += 1
        try:
            while await _answer_request(endpoint, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            endpoint.hung_up += 1
        finally:
            handlers.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    port = server.sockets[0].getsockname()[1]
    known = {"/v1/models": {"data": [{"id": "listed-model"}]}} if pages is None else pages
    endpoint = Endpoint(url=f"http://127.0.0.1:{port}/v1", play=play, pages=known)
    try:
        yield endpoint
    finally:
        server.close()
        for task in list(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        await server.wait_closed()


@contextmanager
def serving_in_a_thread(play: Play, pages: dict[str, Any] | None = None, port: int = 0) -> Iterator[Endpoint]:
    """The endpoint for a block that is not async."""
    loop, started, stop, found = asyncio.new_event_loop(), threading.Event(), asyncio.Event(), []

    async def run() -> None:
        async with serving(play, pages, port) as endpoint:
            found.append(endpoint)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    assert started.wait(10)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _answer_request(endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Answer one request; False when the connection is over."""
    head = await _read_head(reader)
    if head is None:
        return False
    path, headers = head
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    if not path.endswith("/chat/completions"):
        endpoint.asked.append(path)
        page = endpoint.pages.get(path, Reply(404, {"error": "not found"}))
        if callable(page):
            page = page(json.loads(body))
        await _send_reply(writer, page if isinstance(page, Reply) else Reply(body=page))
        return True
    request = json.loads(body)
    endpoint.bodies.append(request)
    endpoint.headers.append(headers)
    played = endpoint.play(request, len(endpoint.bodies) - 1)
    if isinstance(played, Reply):
        await _send_reply(writer, played)
        return True
    endpoint.streaming += 1
    try:
        return await _send_stream(endpoint, _with_prompt_tokens(played, request), reader, writer)
    finally:
        endpoint.streaming -= 1


def _with_prompt_tokens(steps: Iterable[Any], request: dict[str, Any]) -> Iterator[Any]:
    """The steps; a usage without a number of prompt tokens gets one."""
    for step in steps:
        counts = step.get("usage") if isinstance(step, dict) else None
        if counts and counts.get("prompt_tokens", 0) is None:
            tokens = len(json.dumps(request["messages"])) // 4
            yield {**step, "usage": {**counts, "prompt_tokens": tokens}}
        else:
            yield step


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]] | None:
    try:
        raw = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    return first.split(" ")[1], headers


async def _send_reply(writer: asyncio.StreamWriter, reply: Reply) -> None:
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


async def _send_stream(
    endpoint: Endpoint, steps: Iterable[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    gone = asyncio.ensure_future(reader.read(1))  # a client that says or closes anything now has gone away
    try:
        for step in steps:
            if step is CUT:
                writer.write(b'40\r\ndata: {"choices": [{"delta": {"cont')
                await writer.drain()
                return False
            if isinstance(step, float):
                await asyncio.wait([gone], timeout=step)
            else:
                data = step if isinstance(step, bytes) else b"data: " + json.dumps(step).encode() + b"\n\n"
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                await writer.drain()
            if gone.done():
                endpoint.hung_up += 1
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    finally:
        if not gone.done():
            gone.cancel()
        await asyncio.wait([gone])
    return True
