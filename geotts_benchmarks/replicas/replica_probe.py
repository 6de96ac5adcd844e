"""Ask every replica of a running application what it is doing.

Serve's handles belong to the event loop that first used them and must find it open when Serve shuts down, so the probe
keeps one loop of its own in a daemon thread for as long as the process lives.
"""

from __future__ import annotations

import asyncio
import threading
from functools import lru_cache

from ray import serve

_CALLS_PER_DEPLOYMENT = 12  # handle calls go to a random replica: a dozen reach each of a few
_DEPLOYMENTS = {"Gateway", "Rollout", "Tools"}


@lru_cache(maxsize=1)
def _probe_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="probe", daemon=True).start()
    return loop


class Probe:
    """Counts what runs on the replicas of an application."""

    def __init__(self, app_name: str) -> None:
        self._app_name = app_name

    async def running(self) -> int:
        """Requests, rollouts and tool calls in flight, summed over all replicas."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._count_running(), _probe_loop()))

    async def idle_within(self, seconds: float) -> bool:
        """Wait until nothing runs; False when something still does after `seconds`."""
        give_up = asyncio.get_running_loop().time() + seconds
        while await self.running():
            if asyncio.get_running_loop().time() > give_up:
                return False
            await asyncio.sleep(0.005)
        return True

    async def _count_running(self) -> int:
        counts: dict[str, int] = {}
        there = serve.status().applications[self._app_name].deployments
        for name in sorted(_DEPLOYMENTS & set(there)):
            handle = serve.get_deployment_handle(name, self._app_name)
            counts |= dict(await asyncio.gather(*(handle.running.remote() for _ in range(_CALLS_PER_DEPLOYMENT))))
        return sum(counts.values())
