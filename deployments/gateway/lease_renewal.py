"""Renews the leases of the requests of this gateway, and cancels the work of requests whose lease was lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from deployments.gateway.lease import Lease
from deployments.runstore import RunMeta, RunStore, StoreUnavailable

_log = logging.getLogger("geotts.gateway")


class LeaseRenewal:
    """Asks the store four times in a lease, and more often while it does not answer.

    Args:
        held: the requests at work now, each with its lease, by request id.
        cancel: called with the id of a request that is cancelled, erased or taken over.
    """

    def __init__(
        self,
        store: RunStore,
        lease_s: float,
        held: Callable[[], Mapping[str, tuple[RunMeta, Lease]]],
        cancel: Callable[[str], None],
    ) -> None:
        self._store = store
        self._lease_s = lease_s
        self._held_requests = held
        self._cancel = cancel

    async def run(self) -> None:
        """Renew until cancelled."""
        pause_s, is_late = self._lease_s / 4, False
        while True:
            await asyncio.sleep(pause_s)
            pause_s = self._lease_s / 4
            try:
                await self._renew_leases()
            except StoreUnavailable as error:
                if not is_late:
                    _log.warning("leases are not renewed: %s", error.detail)
                is_late = True
                pause_s /= 4
            else:
                is_late = False

    async def _renew_leases(self) -> None:
        """Raises StoreUnavailable."""
        held = self._held_requests()
        asked_at = asyncio.get_running_loop().time()
        lost = set(await self._store.renew([meta for meta, _ in held.values()], lease_s=self._lease_s))
        for request_id, (_, lease) in held.items():
            if request_id in lost:
                _log.warning("stopped: cancelled, erased or taken over", extra={"request_id": request_id})
                self._cancel(request_id)
            else:
                lease.renew(asked_at)
