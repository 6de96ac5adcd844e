"""One conversation with an external MCP server: open it, list or call, close it. Nothing outlives a call.

So a server that hangs, dies or says too much costs the call that met it. Each call is recorded before it is sent.
Needs the extra `mcp`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import orjson
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tts.config import McpServerConfig
from tts.domain.outgoing_request import Outgoing
from tts.egress.records import RecordOutgoing
from tts.errors import ToolError, ToolErrorKind, boundary
from tts.net.url_secrets import bare_url

T = TypeVar("T")
_RELAY_SCRIPT = Path(__file__).with_name("relay.py")
_MAX_PAGES = 10


async def list_tools(config: McpServerConfig, environment: Mapping[str, str]) -> list[types.Tool]:
    """The tools of a server.

    Args:
        config: the program or the URL of the server; `timeout_s` and `max_bytes` limit the whole conversation.
        environment: where the variables that `config.env` and `config.key_env` name are read from.

    Returns:
        The tools as the server states them, of ten pages of its list at most.

    Raises:
        ToolError: TIMEOUT when the server does not answer in time, UNAVAILABLE for all else that can go wrong with it.
    """

    async def every(client: Client) -> list[types.Tool]:
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    return await _run_session(config, environment, every)


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Calls the tools of one server, which has this name in the configuration."""

    server: str
    config: McpServerConfig
    environment: Mapping[str, str]
    record: RecordOutgoing

    async def call(self, name: str, arguments: dict[str, Any], *, request_id: str) -> types.CallToolResult:
        """Call a tool.

        Args:
            name: the name of the tool on the server.
            arguments: what the model wrote, as the server's schema asks.
            request_id: the request for which it is called, in the record of what leaves the machine.

        Returns:
            The result as the server gave it; with `is_error` if the tool failed.

        Raises:
            ToolError: TIMEOUT, or UNAVAILABLE for all else that can go wrong with a server.
        """
        self._record_call(name, arguments, request_id)
        return await _run_session(self.config, self.environment, lambda client: client.call_tool(name, arguments))

    def _record_call(self, name: str, arguments: dict[str, Any], request_id: str) -> None:
        url = f"stdio:{self.server}/{name}" if self.config.url is None else bare_url(self.config.url)
        host = self.server if self.config.url is None else url.partition("://")[2].partition("/")[0]
        size = len(orjson.dumps(arguments))
        self.record(Outgoing.now(host=host, method="MCP", url=url, bytes_sent=size, request_id=request_id))


async def _run_session(
    config: McpServerConfig, environment: Mapping[str, str], work: Callable[[Client], Awaitable[T]]
) -> T:
    try:
        async with asyncio.timeout(config.timeout_s):
            with boundary(ToolError, "an external MCP server"):
                async with _connect_client(config, environment) as client:
                    return await work(client)
    except TimeoutError:
        kind = ToolErrorKind.TIMEOUT
        raise ToolError(f"the server did not answer within {config.timeout_s:g} s", kind=kind) from None


@asynccontextmanager
async def _connect_client(config: McpServerConfig, environment: Mapping[str, str]) -> AsyncIterator[Client]:
    if config.url is None:
        given = {name: environment[name] for name in config.env if name in environment}
        relayed = ["-I", str(_RELAY_SCRIPT), str(config.max_bytes), *config.command]
        async with Client(StdioServerParameters(command=sys.executable, args=relayed, env=given)) as client:
            yield client
        return
    headers = {"Accept-Encoding": "identity"}
    if config.key_env and (key := environment.get(config.key_env)):
        headers["Authorization"] = f"Bearer {key}"
    transport = _BoundedTransport(config.max_bytes)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=config.timeout_s, transport=transport, trust_env=False) as http,
        Client(streamable_http_client(config.url, http_client=http)) as client,
    ):
        yield client


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """At most so many bytes of replies in all, and none that are compressed."""

    def __init__(self, remaining: int) -> None:
        super().__init__()
        self.remaining = remaining

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        reply = await super().handle_async_request(request)
        if reply.headers.get("content-encoding", "identity") != "identity":
            await reply.aclose()
            raise httpx2.RemoteProtocolError("the reply is compressed, which was not asked for")
        assert isinstance(reply.stream, httpx2.AsyncByteStream)
        reply.stream = _CountedStream(reply.stream, self)
        return reply


class _CountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, budget: _BoundedTransport) -> None:
        self._inner = inner
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._budget.remaining -= len(chunk)
            if self._budget.remaining < 0:
                raise httpx2.RemoteProtocolError("the server says more than it may")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
