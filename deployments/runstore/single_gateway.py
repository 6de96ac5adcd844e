"""The in-process state of a store for exactly one gateway: signals, leases, readers, cancellations and rate counters.

This state is lost at a restart. A log that is still open then has no lease, so it is recognised as orphaned.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from deployments.runstore.log_following import LogSignals
from deployments.runstore.run_meta import RunMeta


class SingleGateway(ABC):
    """The half of `RunStore` that memory and SQLite share. `clock` gives seconds."""

    shared = False

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._signals = LogSignals()
        self._leases: dict[str, tuple[str, float]] = {}
        self._attended_until: dict[str, float] = {}
        self._cancel_requests: asyncio.Queue[str] = asyncio.Queue()
        self._cancelled_ids: set[str] = set()
        self._buckets: dict[str, float] = {}

    def _admit(self, meta: RunMeta, lease_s: float, max_open: int | None) -> bool:
        now = self._clock()
        if max_open is not None:
            mine = sum(tenant == meta.tenant and until > now for tenant, until in self._leases.values())
            if mine >= max_open:
                return False
        self._leases[meta.request_id] = (meta.tenant, now + lease_s)
        return True

    def _has_lease(self, request_id: str) -> bool:
        return self._leases.get(request_id, ("", 0.0))[1] > self._clock()

    def _forget(self, request_id: str) -> None:
        self._leases.pop(request_id, None)
        self._attended_until.pop(request_id, None)
        self._cancelled_ids.discard(request_id)
        self._signals.notify(request_id)

    async def renew(self, metas: Sequence[RunMeta], *, lease_s: float) -> Sequence[str]:
        """Prolong the leases that are still there. One that is gone is not made again, and its request is returned."""
        until = self._clock() + lease_s
        for meta in metas:
            if meta.request_id in self._leases:
                self._leases[meta.request_id] = (meta.tenant, until)
        unwanted = (meta.request_id in self._cancelled_ids or meta.request_id not in self._leases for meta in metas)
        return [meta.request_id for meta, stop in zip(metas, unwanted, strict=True) if stop]

    @abstractmethod
    async def is_open(self, request_id: str) -> bool:
        """Whether there is a log of this request that was not closed."""

    async def save(self, request_id: str, name: str, data: bytes) -> None:
        """Nothing: no other gateway could go on with the request."""
        return

    async def saved_files(self, request_id: str) -> Mapping[str, bytes]:
        """Nothing was saved."""
        return {}

    async def take_over(self, meta: RunMeta, *, lease_s: float) -> bool:
        """Take a lease on an open request that has none."""
        if self._has_lease(meta.request_id) or not await self.is_open(meta.request_id):
            return False
        self._leases[meta.request_id] = (meta.tenant, self._clock() + lease_s)
        return True

    async def requests_without_lease(self, *, for_s: float) -> Sequence[str]:
        """Nothing: a request of an earlier process ends when somebody asks for it."""
        return ()

    async def attend(self, request_id: str, seconds: float) -> None:
        """Keep the later of two promises; nothing for a request without a lease."""
        until = self._clock() + seconds
        if request_id in self._leases:
            self._attended_until[request_id] = max(until, self._attended_until.get(request_id, until))

    async def attended_s(self, request_id: str) -> float:
        """0 also when nothing was promised."""
        return max(0.0, self._attended_until.get(request_id, 0.0) - self._clock())

    async def ask_cancel(self, request_id: str) -> None:
        """Tell `cancels` at once and `renew` later; nothing for a request without a lease."""
        if request_id in self._leases:
            self._cancelled_ids.add(request_id)
            self._cancel_requests.put_nowait(request_id)

    async def cancels(self) -> AsyncIterator[str]:
        """Requests from a queue of this process, without an end."""
        while True:
            yield await self._cancel_requests.get()

    async def take(self, name: str, *, per_minute: float, burst: int) -> float:
        """A leaky bucket as one number: the time at which it will be empty again (GCRA)."""
        now, each = self._clock(), 60.0 / per_minute
        empty_at = max(now, self._buckets.get(name, now))
        wait = empty_at - now - each * (burst - 1)
        if wait > 0:
            return wait
        self._buckets[name] = empty_at + each
        return 0.0
