"""The readers of a request: its work continues while it has readers, and is cancelled with the last of them.

The reader that started a request owns it: if it leaves, the work is cancelled (after its grace time, if it has one),
unless a reader that joined it, here or at another gateway, is still there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass

from deployments.gateway.runner import ATTENDED_S, Runner
from deployments.runstore import RunStore, StoreUnavailable
from tts.aio import spawn


@dataclass(slots=True)
class _LocalReaders:
    """Readers of one request at this gateway. `owner_left`: the one that began it has left."""

    count: int = 0
    owner_left: bool = False


class Readers:
    """The readers at this gateway. Leaving only starts things: a reader that is cancelled by its server gets no chance
    to wait for anything.
    """

    def __init__(self, runner: Runner, store: RunStore) -> None:
        self._runner = runner
        self._store = store
        self._readers_by_request: dict[str, _LocalReaders] = {}

    @contextmanager
    def attach_reader(self, request_id: str, grace_s: float, *, joins: bool) -> Iterator[None]:
        """Around reading a request. Which of its readers leave first does not matter."""
        runs_elsewhere = joins and not self._runner.is_running(request_id)
        reports = grace_s > 0 or runs_elsewhere  # its gateway hears of this reader by the store
        report_task = spawn(self._report_reader(request_id, grace_s), name=f"attend {request_id}") if reports else None
        local_readers = self._readers_by_request.setdefault(request_id, _LocalReaders())
        local_readers.count += 1
        try:
            yield
        finally:
            if report_task is not None:
                report_task.cancel()
            local_readers.count -= 1
            local_readers.owner_left |= not joins and grace_s <= 0
            if local_readers.count == 0:
                del self._readers_by_request[request_id]
                if local_readers.owner_left and self._runner.is_running(request_id):
                    spawn(self._runner.stop_unattended(request_id), name=f"leave {request_id}", context=Context())

    async def _report_reader(self, request_id: str, grace_s: float) -> None:
        while True:
            try:
                await self._store.attend(request_id, grace_s + ATTENDED_S)
                pause_s = ATTENDED_S / 2
            except StoreUnavailable:
                pause_s = ATTENDED_S / 6
            await asyncio.sleep(pause_s)
