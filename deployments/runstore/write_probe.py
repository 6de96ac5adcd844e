"""Tests whether the run store can be written, at most once in a given time."""

from __future__ import annotations

import asyncio

from deployments.runstore import RunStore, StoreUnavailable

_PROBE_PERIOD_S = 5.0  # anybody may ask for readiness, and trying writes


class StoreProbe:
    """Writes a row and deletes it. What came of it counts for `_PROBE_PERIOD_S`."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._try_lock = asyncio.Lock()
        self._due_at = float("-inf")
        self._failure: StoreUnavailable | None = None

    async def __call__(self) -> None:
        """Raises StoreUnavailable with what is wrong."""
        async with self._try_lock:
            if self._now() >= self._due_at:
                await self._try_to_write()
        if self._failure is not None:
            raise self._failure

    async def _try_to_write(self) -> None:
        try:
            await self._store.ping()
        except StoreUnavailable as error:
            self._failure = error
        else:
            self._failure = None
        self._due_at = self._now() + _PROBE_PERIOD_S

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
