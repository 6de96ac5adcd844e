"""What the routes share: the gateway, who may use it, and how much of it is well."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from fastapi import Request

from deployments.access import Caller, Keyring, TooManyRequests
from deployments.arrival import PhotoSource
from deployments.gateway import Gateway
from deployments.metrics import Metrics
from tts.aio import spawn
from tts.config import AppArgs
from tts.errors import FatalError, GeoTTSError, boundary

Check = Callable[[], Awaitable[object]]
_CHECK_S = 2.0
_log = logging.getLogger("geotts.gateway")


@dataclass(frozen=True, slots=True)
class Service:
    """`checks` are what readiness asks; `fetch` gets a photo from a URL, None where that is not allowed."""

    gateway: Gateway
    args: AppArgs
    keyring: Keyring
    metrics: Metrics
    checks: Mapping[str, Check] = field(default_factory=dict)
    fetch: PhotoSource | None = None

    def caller(self, request: Request) -> Caller:
        """Raises Unauthorized or Forbidden."""
        return self.keyring.caller(request.headers)

    async def worker(self, request: Request) -> Caller:
        """The caller, for a request that costs something. Raises TooManyRequests above the caller's rate."""
        caller = self.caller(request)
        if caller.requests_per_minute is not None:
            wait_s = await self.gateway.store.take(
                caller.name or "-", per_minute=caller.requests_per_minute, burst=self.args.gateway.access.burst
            )
            if wait_s > 0:
                raise TooManyRequests(
                    f"at most {caller.requests_per_minute:g} requests a minute with this key", retry_after_s=wait_s
                )
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

    async def health(self) -> dict[str, str]:
        """`ok` or what is wrong, for the store and for everything behind the gateway."""
        checks: dict[str, Check] = {"store": self.gateway.store.ping, **self.checks}
        found = await asyncio.gather(*(spawn(_checked(check), name=f"check {name}") for name, check in checks.items()))
        return dict(zip(checks, found, strict=True))


async def _checked(check: Check) -> str:
    try:
        with boundary(FatalError, "readiness check"):
            async with asyncio.timeout(_CHECK_S):
                await check()
    except TimeoutError:
        return f"no answer within {_CHECK_S:g} s"
    except GeoTTSError as error:
        return error.detail
    return "ok"
