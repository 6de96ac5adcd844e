"""The rate limits of a caller: requests a minute, and money a day.

The counters are in the run store, so that all gateways of a service share them. `admission.py` limits what runs at the
same time.
"""

from __future__ import annotations

from deployments.gateway.auth import Caller, TooManyRequests
from deployments.runstore.port import RunStore

_MINUTES_A_DAY = 24 * 60


async def take_from_rate(caller: Caller, store: RunStore, *, burst: int) -> None:
    """Counts one request of `caller`; `burst` requests may come at once. Raises TooManyRequests above a limit."""
    name = caller.name or "-"
    if (rate := caller.requests_per_minute) is not None:
        wait_s = await store.take(name, per_minute=rate, burst=burst)
        if wait_s > 0:
            raise TooManyRequests(f"at most {rate:g} requests a minute with this key", retry_after_s=wait_s)
    if (paid := caller.requests_per_day) is not None:
        # half at once and half over the day: in no 24 hours more than all of it
        wait_s = await store.take(f"{name} money", per_minute=paid / 2 / _MINUTES_A_DAY, burst=max(1, paid // 2))
        if wait_s > 0:
            raise TooManyRequests("this key has spent its money for the day", retry_after_s=wait_s)
