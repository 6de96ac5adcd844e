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
class _Audience:
    """Readers of one request at this gateway. `disowned`: the one that began it has left."""

    readers: int = 0
    disowned: bool = False


class Readers:
    """The readers at this gateway. Leaving only starts things: a reader that is cancelled by its server gets no chance
    to wait for anything.
    """

    def __init__(self, runner: Runner, store: RunStore) -> None:
        self._runner = runner
        self._store = store
        self._audiences: dict[str, _Audience] = {}

    @contextmanager
    def attach_reader(self, request_id: str, grace_s: float, *, joins: bool) -> Iterator[None]:
        """Around reading a request. Which of its readers leave first does not matter."""
        away = joins and not self._runner.is_running(request_id)
        speaks = grace_s > 0 or away  # its gateway hears of this reader by the store
        reader = spawn(self._attend(request_id, grace_s), name=f"attend {request_id}") if speaks else None
        audience = self._audiences.setdefault(request_id, _Audience())
        audience.readers += 1
        try:
            yield
        finally:
            if reader is not None:
                reader.cancel()
            audience.readers -= 1
            audience.disowned |= not joins and grace_s <= 0
            if audience.readers == 0:
                del self._audiences[request_id]
                if audience.disowned and self._runner.is_running(request_id):
                    spawn(self._runner.stop_unattended(request_id), name=f"leave {request_id}", context=Context())

    async def _attend(self, request_id: str, grace_s: float) -> None:
        while True:
            try:
                await self._store.attend(request_id, grace_s + ATTENDED_S)
                pause_s = ATTENDED_S / 2
            except StoreUnavailable:
                pause_s = ATTENDED_S / 6
            await asyncio.sleep(pause_s)
