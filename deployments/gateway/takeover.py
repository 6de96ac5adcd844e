"""Finds requests whose gateway was lost, takes them over, and continues or ends them (ADR 0045)."""

from __future__ import annotations

import asyncio
import logging
from contextvars import Context
from typing import Protocol

from deployments.config import GatewayConfig
from deployments.gateway.logged_request import logged_entries
from deployments.gateway.periodic_work import repeat_every
from deployments.gateway.saved_request import TakenOver, load_request
from deployments.runstore import LogEntry, RunMeta, RunStore, StoreUnavailable
from tts.aio import cancel_and_wait, spawn

_log = logging.getLogger("geotts.gateway")


class Adopter(Protocol):
    """The gateway that takes requests over."""

    def is_running(self, request_id: str) -> bool:
        """Tell whether this gateway works on a request.

        Args:
            request_id: any request of the run store.
        """
        ...

    def is_broken(self, request_id: str) -> bool:
        """Tell whether this gateway ended a request but could not write the end to the run store.

        Args:
            request_id: any request of the run store.
        """
        ...

    def resume_request(self, earlier: TakenOver, meta: RunMeta, asked_at: float) -> None:
        """Start to work on a request that this gateway has taken over.

        Args:
            earlier: the request as it was saved, and its log so far.
            meta: what the run store has of the request besides its events.
            asked_at: when the store was asked for the request, in seconds on the clock of the event loop.
        """
        ...

    async def end_lost(self, meta: RunMeta, last_entry: LogEntry | None) -> None:
        """Write the end of a log that this gateway has taken over.

        Args:
            meta: what the run store has of the request besides its events.
            last_entry: the entry after which the end is written; None if the log is empty.
        """
        ...


class Takeover:
    """Open logs in the run store that no gateway has a valid lease on."""

    def __init__(self, config: GatewayConfig, store: RunStore, adopter: Adopter) -> None:
        self._lease_s = config.lease_s
        self._store = store
        self._adopter = adopter
        self._delayed_takeovers: dict[str, asyncio.Task[None]] = {}

    async def adopt(self) -> None:
        """Look for requests of gateways that were lost, as often as leases are renewed, until this is cancelled.

        One whose lease has just ended may still have its gateway, which could not reach the store.
        """
        pause_s = self._lease_s / 4

        async def take_over_abandoned() -> None:
            for request_id in await self._store.requests_without_lease(for_s=pause_s):
                await self._take_over(request_id)

        await repeat_every(pause_s, take_over_abandoned, _log, "requests of a lost gateway cannot be taken over")

    async def end(self, request_id: str, *, at_once: bool = False) -> None:
        """Go on with a request whose gateway was lost, or end it; nothing for any other.

        A gateway that lives may be late with its lease, after an outage of the store for one: unless `at_once`, it gets
        the time in which it would renew it twice. `at_once`: somebody wants it stopped, so it is ended.
        """
        if self._adopter.is_running(request_id) or await self._store.last_seq_without_lease(request_id) is None:
            return
        if at_once or not self._store.shared or self._adopter.is_broken(request_id):
            meta = await self._store.meta(request_id)
            if meta is not None and await self._store.take_over(meta, lease_s=self._lease_s):
                await self._end_request(meta)
        elif request_id not in self._delayed_takeovers:
            # for one that an earlier release began: `adopt` does not find it
            task = spawn(self._continue_later(request_id), name=f"suspect {request_id}", context=Context())
            self._delayed_takeovers[request_id] = task
            task.add_done_callback(lambda _: self._delayed_takeovers.pop(request_id, None))

    async def aclose(self) -> None:
        """Stop what is waited for."""
        for task in tuple(self._delayed_takeovers.values()):
            await cancel_and_wait(task)

    async def _continue_later(self, request_id: str) -> None:
        await asyncio.sleep(self._lease_s / 2)
        try:
            await self._take_over(request_id)
        except StoreUnavailable as error:
            _log.warning("a request whose gateway was lost was not ended: %s", error.detail)

    async def _take_over(self, request_id: str) -> None:
        """Take a request over and go on with it; end it where that cannot be done. One gateway only gets it."""
        meta = await self._store.meta(request_id)
        if self._adopter.is_running(request_id) or meta is None:
            return
        asked_at = asyncio.get_running_loop().time()
        if not await self._store.take_over(meta, lease_s=self._lease_s):
            return
        earlier = await load_request(self._store, meta)
        if earlier is None or earlier.resumed.run.stop_reason is not None:
            await self._end_request(meta)
            return
        _log.warning("going on with a request of a lost gateway", extra={"request_id": request_id})
        self._adopter.resume_request(earlier, meta, asked_at)

    async def _end_request(self, meta: RunMeta) -> None:
        entries = await logged_entries(self._store, meta.request_id)
        last_entry = entries[-1] if entries else None
        if last_entry is not None and last_entry.kind == "done":
            await self._store.close(meta)
        else:
            await self._adopter.end_lost(meta, last_entry)
