"""The gateway: starts requests, keeps their event logs, streams them to readers, and cancels what nobody waits for.

A request is one task that runs `solve` and appends to its log; readers follow the log. A reader that goes away cancels
its request unless the caller asked for a grace time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from deployments.runstore import LogEntry, MemoryRunStore
from tts.aio import cancel_and_wait, closing, spawn
from tts.config import AppArgs
from tts.domain.answer import StopReason
from tts.domain.events import Done, Failed, parse_event
from tts.domain.exif import file_claim
from tts.domain.photo import load_photo
from tts.domain.request import LocateOptions, LocateRequest, new_request_id
from tts.domain.trajectory import Run, fold
from tts.errors import FatalError, Overloaded, boundary
from tts.pipeline import solve
from tts.ports import Attachment, Ports

_log = logging.getLogger("geotts.gateway")


class Gateway:
    """One per gateway replica. `in_flight` counts requests that are being read or whose work has not ended."""

    def __init__(self, args: AppArgs, ports: Ports) -> None:
        self._config = args.gateway
        self._ports = ports
        self.store = MemoryRunStore(args.gateway.retention_s)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._admitted = 0

    @property
    def in_flight(self) -> int:
        return len(self._tasks) + self._admitted

    @property
    def ports(self) -> Ports:
        return self._ports

    async def start(self, raw_photos: list[bytes], options: LocateOptions, *, traceparent: str | None = None) -> str:
        """Check and clean the photos, start the work, return the request id.

        Raises:
            PhotoError: for bytes that are not an acceptable photo.
            Overloaded: when too many requests are in flight.
        """
        if self.in_flight >= self._config.max_in_flight:
            raise Overloaded(f"{self.in_flight} requests are in flight", retry_after_s=2.0)
        self._admitted += 1
        try:
            photos = [await asyncio.to_thread(load_photo, raw, self._config.photo) for raw in raw_photos]
        finally:
            self._admitted -= 1
        claims = tuple(file_claim(raw) for raw in raw_photos) if options.exif == "report" else ()
        request = LocateRequest(new_request_id(), tuple(photos), options, traceparent=traceparent, file_claims=claims)
        self.store.open(request.id)
        task = spawn(self._work(request), name=f"solve {request.id}")
        self._tasks[request.id] = task
        task.add_done_callback(lambda _: self._ended(request.id))
        return request.id

    async def _work(self, request: LocateRequest) -> None:
        deadline_s = min(request.options.deadline_s or self._config.default_deadline_s, self._config.max_deadline_s)
        last_seq = 0
        try:
            with boundary(FatalError, f"request {request.id}"):
                async with closing(solve(request, self._ports, deadline_s=deadline_s)) as items:
                    async for item in items:
                        if isinstance(item, Attachment):
                            self.store.attach(request.id, item)
                        else:
                            last_seq = item.seq
                            self.store.append(request.id, item)
        except FatalError:
            problem = Failed(code="internal", status=500, detail="the request failed unexpectedly", seq=last_seq + 1)
            self.store.append(request.id, problem)
            self.store.append(request.id, Done(stop_reason=StopReason.FAILED, seq=last_seq + 2))
        except asyncio.CancelledError:
            self.store.append(request.id, Done(stop_reason=StopReason.CANCELLED, seq=last_seq + 1))
            raise

    def _ended(self, request_id: str) -> None:
        self._tasks.pop(request_id, None)
        self.store.close(request_id)

    async def cancel(self, request_id: str) -> None:
        """Stop the work of a request and wait until everything it started has stopped."""
        task = self._tasks.get(request_id)
        if task is not None:
            await cancel_and_wait(task)

    @asynccontextmanager
    async def attended(self, request_id: str, grace_s: float) -> AsyncIterator[None]:
        """While a reader is inside, the work goes on; when it leaves early, the work is cancelled after `grace_s`."""
        try:
            yield
        finally:
            if request_id in self._tasks:
                if grace_s > 0:
                    spawn(self._cancel_later(request_id, grace_s), name=f"grace {request_id}")
                else:
                    self._tasks[request_id].cancel()

    async def _cancel_later(self, request_id: str, grace_s: float) -> None:
        await asyncio.sleep(grace_s)
        await self.cancel(request_id)

    async def follow(self, request_id: str, *, after: int = 0) -> AsyncIterator[LogEntry | None]:
        """The log from `after` on; None is a heartbeat."""
        async with closing(self.store.read(request_id, after=after, idle_s=self._config.heartbeat_s)) as entries:
            async for entry in entries:
                yield entry

    async def result(self, request_id: str) -> Run:
        """Wait until the request is done and fold its log."""
        events = [parse_event(entry.payload) async for entry in self.store.read(request_id) if entry is not None]
        return fold(events)
