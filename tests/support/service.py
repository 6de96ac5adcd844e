"""A real gateway and pipeline in this process, with or without a real server, for tests of the HTTP face."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import uvicorn

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.gateway.photos.fetcher import PhotoFetcher
from deployments.http.app import create_app
from deployments.http.server import head_limits as http_limits
from deployments.observability.metrics import Metrics
from deployments.observability.request_observer import RequestObserver
from deployments.runstore import RunStore
from deployments.wiring.local import LocalTools, local_ports
from support.basics import sign_bytes
from tts.config import RoutingConfig, ScriptedEngine
from tts.ports.request_ports import Ports

PHOTO = sign_bytes("Rue de Rivoli")
SLOW = ScriptedEngine(turns=3, tokens_per_turn=50, turn_s=10.0)  # each rollout takes half a minute


def an_app(engine: ScriptedEngine | None = None, **gateway: Any) -> AppArgs:
    """Scripted rollouts of 2 turns in 0.1 s."""
    engine = engine or ScriptedEngine(turns=2, tokens_per_turn=8, turn_s=0.05)
    config = GatewayConfig(**{"heartbeat_s": 0.05, **gateway})
    return AppArgs(engine=engine, routing=RoutingConfig(method="fixed"), gateway=config)


_PORTS: dict[str, Ports] = {}


def ports_of(args: AppArgs) -> Ports:
    """Made once for each engine: opening the gazetteer takes a while."""
    key = args.engine.model_dump_json()
    if key not in _PORTS:
        _PORTS[key] = local_ports(args)
    return _PORTS[key]


def a_gateway(
    args: AppArgs, store: RunStore | None = None, ports: Ports | None = None, tools: LocalTools | None = None
) -> tuple[Gateway, Metrics]:
    """With `tools` the rollouts use them and the gateway asks their brokers."""
    metrics = Metrics()
    if tools is not None:
        ports = replace(local_ports(args, tools), egress_log=tools.brokers)
    ports = ports or ports_of(args.model_copy(update={"gateway": GatewayConfig()}))
    brokers = None if tools is None else tools.brokers
    return Gateway(args, ports, store=store, brokers=brokers, observers=[metrics]), metrics


@asynccontextmanager
async def with_tools(
    args: AppArgs,
    tools: LocalTools,
    *,
    store: RunStore | None = None,
    observers: Sequence[RequestObserver] = (),
    **headers: str,
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application in this process whose rollouts use these tools."""
    metrics = Metrics()
    ports = replace(local_ports(args, tools), egress_log=tools.brokers)
    gateway = Gateway(args, ports, store=store, brokers=tools.brokers, observers=[metrics, *observers])
    async with aclosing(tools), _client_of(gateway, args, metrics, headers) as client:
        yield client


@asynccontextmanager
async def talking_to(args: AppArgs, store: RunStore | None = None, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application in this process, without sockets: replies come whole."""
    gateway, metrics = a_gateway(args, store)
    async with _client_of(gateway, args, metrics, headers) as client:
        yield client


@asynccontextmanager
async def _client_of(
    gateway: Gateway, args: AppArgs, metrics: Metrics, headers: dict[str, str]
) -> AsyncIterator[httpx.AsyncClient]:
    """`create_app` would close a fetcher of its own at the end of its lifespan, which needs one task for start and end:
    fixtures have two."""
    async with aclosing(PhotoFetcher(args.gateway)) as fetcher, aclosing(gateway):
        app = create_app(gateway, args, metrics=metrics, fetch=fetcher.fetch if args.gateway.fetch_urls else None)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            yield client


@asynccontextmanager
async def serving(
    args: AppArgs,
    store: RunStore | None = None,
    ports: Ports | None = None,
    tools: LocalTools | None = None,
    **options: Any,
) -> AsyncIterator[tuple[str, Gateway]]:
    """A real server on a free port: its URL and its gateway."""
    gateway, metrics = a_gateway(args, store, ports, tools)
    app = create_app(gateway, args, metrics=metrics, **options)
    http_limits.install(args.gateway.connections)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1))
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve())
        try:
            while not server.started and not serving.done():  # noqa: ASYNC110
                await asyncio.sleep(0.005)  # uvicorn has nothing to wait on
            port = server.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}", gateway
        finally:
            server.should_exit = True
            await serving  # before a failure reaches the group, which would end the server with its sockets open
            if tools is not None:
                await tools.aclose()


async def idle(gateway: Gateway) -> None:
    """Wait until nothing is at work; a test that hangs here left something running."""
    async with asyncio.timeout(20):
        while gateway.in_flight:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def samples(text: str) -> dict[str, float]:
    """What a Prometheus exposition says, by name and labels."""
    lines = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}
