"""Shared by the routes: the gateway, its access rules, and the health of its parts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from fastapi import Request

from deployments.config import AppArgs
from deployments.endpoints.watch import EndpointWatch
from deployments.gateway.arrival import PhotoSource
from deployments.gateway.auth import Caller, Keyring
from deployments.gateway.gateway import Gateway
from deployments.gateway.rate_limit import take_from_rate
from deployments.http.health import Check, Health, health_of
from deployments.observability.metrics import Metrics
from tts.errors import GeoTTSError
from tts.inference.openai.endpoint.orders import Orders

Spread = Callable[[Orders], Awaitable[bool]]
_log = logging.getLogger("geotts.gateway")


@dataclass(frozen=True, slots=True)
class Service:
    """`checks` and `endpoints` are what readiness asks; `fetch` gets a photo from a URL, None where not allowed.
    `spread` brings orders of operators to the other replicas, where there are any.
    """

    gateway: Gateway
    args: AppArgs
    keyring: Keyring
    metrics: Metrics
    endpoints: EndpointWatch
    checks: Mapping[str, Check] = field(default_factory=dict)
    fetch: PhotoSource | None = None
    spread: Spread | None = None

    def caller(self, request: Request) -> Caller:
        """Raises Unauthorized or Forbidden."""
        return self.keyring.caller(request.headers)

    async def caller_within_rate(self, request: Request) -> Caller:
        """The caller, for a request that costs something. Raises TooManyRequests above its rate or money."""
        caller = self.caller(request)
        await take_from_rate(caller, self.gateway.store, burst=self.args.gateway.access.burst)
        return caller

    async def exposition(self) -> bytes:
        """All metrics, those of the brokers too; without them when they do not answer."""
        brokers = self.gateway.brokers
        try:
            self.metrics.brokers.snapshots = {} if brokers is None else await brokers.snapshots()
        except GeoTTSError as error:
            _log.warning("metrics without those of the tools: %s", error.detail)
            self.metrics.brokers.snapshots = {}
        return self.metrics.exposition()

    async def health(self) -> Health:
        """The health of the store, of everything behind the gateway, and of the endpoints of models."""
        return await health_of({"store": self.gateway.store_probe, **self.checks}, self.endpoints)
