"""Shared by the routes: the gateway, its access rules, and the health of its parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from fastapi import Request

from deployments.endpoints.watch import EndpointWatch
from deployments.gateway.arrival import PhotoSource
from deployments.gateway.auth import Caller, Keyring, TooManyRequests
from deployments.gateway.gateway import Gateway
from deployments.observability.metrics import Metrics
from tts.aio import spawn
from tts.config import AppArgs
from tts.errors import FatalError, GeoTTSError, boundary
from tts.inference.openai.endpoint.orders import Orders

Check = Callable[[], Awaitable[object]]
Spread = Callable[[Orders], Awaitable[bool]]
_CHECK_S = 2.0
_OK = "ok"
_log = logging.getLogger("geotts.gateway")
_MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Health:
    """Not `ready` when a check failed, or when no configured engine answers: one of several may be down."""

    ready: bool
    checks: dict[str, str]


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

    async def worker(self, request: Request) -> Caller:
        """The caller, for a request that costs something. Raises TooManyRequests above its rate or money."""
        caller = self.caller(request)
        if caller.requests_per_minute is not None:
            wait_s = await self.gateway.store.take(
                caller.name or "-", per_minute=caller.requests_per_minute, burst=self.args.gateway.access.burst
            )
            if wait_s > 0:
                raise TooManyRequests(
                    f"at most {caller.requests_per_minute:g} requests a minute with this key", retry_after_s=wait_s
                )
        if (paid := caller.requests_per_day) is not None:
            # half at once and half over the day: in no 24 hours more than all of it
            wait_s = await self.gateway.store.take(
                f"{caller.name or '-'} money", per_minute=paid / 2 / _MINUTES_A_DAY, burst=max(1, paid // 2)
            )
            if wait_s > 0:
                raise TooManyRequests("this key has spent its money for the day", retry_after_s=wait_s)
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
        """`ok` or what is wrong, for the store, for everything behind the gateway and for the endpoints of models."""
        checks: dict[str, Check] = {"store": self.gateway.store_probe, **self.checks}
        asking = [spawn(_checked(check), name=f"check {name}") for name, check in checks.items()]
        endpoints = spawn(self.endpoints.states(), name="check endpoints")
        found = dict(zip(checks, await asyncio.gather(*asking), strict=True))
        report = {**found, **await endpoints}
        ready = all(state == _OK for state in found.values()) and not self.endpoints.none_answers()
        return Health(ready, report)


async def _checked(check: Check) -> str:
    try:
        with boundary(FatalError, "readiness check"):
            async with asyncio.timeout(_CHECK_S):
                await check()
    except TimeoutError:
        return f"no answer within {_CHECK_S:g} s"
    except GeoTTSError as error:
        return error.detail
    return _OK
