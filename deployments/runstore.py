"""Where the event logs and files of requests live while they run and for a while after.

The log is the only buffer between a request and its readers: every reader keeps a position in it, so a stalled reader
costs nothing and a resumed one misses nothing. This implementation is memory, for exactly one gateway replica.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tts.domain.events import Event
from tts.ports import Attachment


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event as it goes over the wire."""

    seq: int
    kind: str
    payload: bytes


@dataclass(slots=True)
class _Log:
    entries: list[LogEntry] = field(default_factory=list)
    files: dict[str, Attachment] = field(default_factory=dict)
    closed: bool = False
    touched: float = field(default_factory=time.monotonic)
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryRunStore:
    """Logs by request id. `retention_s` after its last change a closed log is forgotten."""

    def __init__(self, retention_s: float, *, max_logs: int = 2000) -> None:
        self._retention_s = retention_s
        self._max_logs = max_logs
        self._logs: dict[str, _Log] = {}

    def open(self, request_id: str) -> None:
        self._forget_old()
        self._logs[request_id] = _Log()

    def append(self, request_id: str, event: Event) -> None:
        log = self._logs.get(request_id)
        if log is not None:
            log.entries.append(LogEntry(event.seq, event.type, event.json_bytes()))
            self._wake(log)

    def attach(self, request_id: str, attachment: Attachment) -> None:
        log = self._logs.get(request_id)
        if log is not None:
            log.files[attachment.sha256] = attachment

    def close(self, request_id: str) -> None:
        log = self._logs.get(request_id)
        if log is not None:
            log.closed = True
            self._wake(log)

    def erase(self, request_id: str) -> bool:
        log = self._logs.pop(request_id, None)
        if log is None:
            return False
        log.closed = True
        self._wake(log)
        return True

    def exists(self, request_id: str) -> bool:
        return request_id in self._logs

    def file(self, request_id: str, sha256: str) -> Attachment | None:
        log = self._logs.get(request_id)
        return None if log is None else log.files.get(sha256)

    async def read(
        self, request_id: str, *, after: int = 0, idle_s: float | None = None
    ) -> AsyncIterator[LogEntry | None]:
        """Entries with a `seq` above `after`, then new ones until the log closes; None after `idle_s` of silence."""
        log = self._logs.get(request_id)
        if log is None:
            return
        position = next((i for i, entry in enumerate(log.entries) if entry.seq > after), len(log.entries))
        while True:
            changed = log.changed
            while position < len(log.entries):
                yield log.entries[position]
                position += 1
            if log.closed:
                return
            if changed is not log.changed:
                continue
            try:
                async with asyncio.timeout(idle_s):
                    await changed.wait()
            except TimeoutError:
                yield None

    def _wake(self, log: _Log) -> None:
        log.touched = time.monotonic()
        log.changed.set()
        log.changed = asyncio.Event()

    def _forget_old(self) -> None:
        now = time.monotonic()
        old = [i for i, log in self._logs.items() if log.closed and now - log.touched > self._retention_s]
        surplus = len(self._logs) - len(old) - self._max_logs
        if surplus > 0:
            closed = sorted((log.touched, i) for i, log in self._logs.items() if log.closed and i not in set(old))
            old += [i for _, i in closed[:surplus]]
        for request_id in old:
            del self._logs[request_id]
