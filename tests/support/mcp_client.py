"""The official client of the Model Context Protocol, connected to a service over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def mcp_client(
    url: str, mode: str = "auto", key: str | None = None, transport: httpx2.AsyncBaseTransport | None = None
) -> AsyncIterator[Client]:
    """`mode` is `auto` for the current revision of the protocol, `legacy` for the one before."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, transport=transport) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def upload_photo(url: str, photo: bytes, key: str | None = None) -> str:
    """The ticket of a photo."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient() as http:
        reply = await http.post(f"{url}/uploads", content=photo, headers=headers)
    assert reply.status_code == 201
    return reply.json()["upload_id"]
