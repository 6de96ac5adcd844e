"""A gateway of this process on a real socket, without Ray: for benchmarks of the gateway by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from deployments.config import AppArgs
from deployments.gateway.gateway import Gateway
from deployments.http.app import create_app
from deployments.http.server import head_limits as http_limits


@asynccontextmanager
async def serve_on_socket(gateway: Gateway, args: AppArgs) -> AsyncIterator[tuple[str, int]]:
    """The application on a real socket of this process, with the limits it is served with."""
    http_limits.install(args.gateway.connections)
    config = uvicorn.Config(
        create_app(gateway, args), port=0, log_config=None, timeout_graceful_shutdown=1, lifespan="off"
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve())
        while not server.started and not serving.done():  # noqa: ASYNC110  uvicorn has nothing to wait on
            await asyncio.sleep(0.005)
        try:
            yield "127.0.0.1", server.servers[0].sockets[0].getsockname()[1]
        finally:
            server.should_exit = True
