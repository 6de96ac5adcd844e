"""The health of a service: its checks, run side by side, each within two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from deployments.endpoints.watch import EndpointWatch
from tts.aio import spawn
from tts.errors import FatalError, GeoTTSError, boundary

Check = Callable[[], Awaitable[object]]
_CHECK_TIMEOUT_S = 2.0
_OK = "ok"


@dataclass(frozen=True, slots=True)
class Health:
    """Not `ready` when a check failed, or when no configured engine answers: one of several may be down."""

    ready: bool
    checks: dict[str, str]


async def health_of(checks: Mapping[str, Check], endpoints: EndpointWatch) -> Health:
    """`ok` or the fault, for each of `checks` by its name and for each endpoint of a model."""
    running = [spawn(_check_result(check), name=f"check {name}") for name, check in checks.items()]
    states = spawn(endpoints.states(), name="check endpoints")
    found = dict(zip(checks, await asyncio.gather(*running), strict=True))
    report = {**found, **await states}
    ready = all(state == _OK for state in found.values()) and not endpoints.none_answers()
    return Health(ready, report)


async def _check_result(check: Check) -> str:
    try:
        with boundary(FatalError, "readiness check"):
            async with asyncio.timeout(_CHECK_TIMEOUT_S):
                await check()
    except TimeoutError:
        return f"no answer within {_CHECK_TIMEOUT_S:g} s"
    except GeoTTSError as error:
        return error.detail
    return _OK
