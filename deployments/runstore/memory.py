"""The run store in memory: for one gateway, gone with the process. The default."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from deployments.runstore.log_following import PAGE, Page, follow
from deployments.runstore.memory_cases import MemoryCases
from deployments.runstore.port import REMINDERS, IdempotencyClaim, KeyTaken, LogEntry
from deployments.runstore.run_meta import RunMeta
from deployments.runstore.single_gateway import SingleGateway
from tts.ports.toolbox import Attachment


@dataclass(slots=True)
class _Log:
    meta: RunMeta
    touched: float
    entries: list[LogEntry] = field(default_factory=list)
    files: dict[str, Attachment] = field(default_factory=dict)
    size: int = 0
    closed: bool = False


class MemoryRunStore(MemoryCases, SingleGateway):
    """`retention_s` after it closed a log is forgotten; the oldest earlier, when all take more than `max_bytes`."""

    def __init__(
        self, retention_s: float, *, max_bytes: int = 256 * 2**20, clock: Callable[[], float] = time.monotonic
    ) -> None:
        SingleGateway.__init__(self, clock)
        MemoryCases.__init__(self)
        self._retention_s = retention_s
        self._max_bytes = max_bytes
        self._size = 0
        self._logs: dict[str, _Log] = {}
        self._closed_logs: dict[str, None] = {}  # in the order in which they were closed
        self._claims: dict[str, tuple[IdempotencyClaim, float]] = {}
        self._reminders: dict[str, float] = {}

    async def open(self, meta: RunMeta, *, lease_s: float, max_open: int | None = None) -> bool:
        """Start a log. Closed logs that are past their time, or too large together, are forgotten first."""
        held = self._claims.get(meta.claim)
        if meta.claim and (held is None or held[0].request_id != meta.request_id):
            raise KeyTaken
        if not self._admit(meta, lease_s, max_open):
            return False
        await self._trim()
        self._logs[meta.request_id] = _Log(meta, self._clock())
        return True

    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """Add entries with a rising `seq`; nothing for a log that is unknown, erased or closed."""
        log = self._logs.get(request_id)
        if log is None or log.closed:
            return
        for entry in entries:
            if not log.entries or entry.seq > log.entries[-1].seq:
                log.entries.append(LogEntry(entry.seq, entry.kind, _compact_copy(entry.payload)))
                self._add_size(log, len(entry.payload))
        self._signals.notify(request_id)

    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Keep a file, once for each hash; nothing for a request that is unknown or erased."""
        log = self._logs.get(request_id)
        if log is not None and attachment.sha256 not in log.files:
            log.files[attachment.sha256] = attachment
            self._add_size(log, len(attachment.data))

    async def close(self, meta: RunMeta) -> bool:
        """Close the log and give up its lease; `retention_s` begins now."""
        log = self._logs.get(meta.request_id)
        if log is not None:
            log.closed = True
            log.touched = self._clock()
            self._closed_logs.setdefault(meta.request_id)
        self._forget(meta.request_id)
        return True

    async def meta(self, request_id: str) -> RunMeta | None:
        """None also for a log that was forgotten to stay within `max_bytes`."""
        log = self._logs.get(request_id)
        return None if log is None else log.meta

    async def is_open(self, request_id: str) -> bool:
        """Whether the log is here and not closed."""
        log = self._logs.get(request_id)
        return log is not None and not log.closed

    async def last_seq_without_lease(self, request_id: str) -> int | None:
        """The last `seq` of an open log without a lease; 0 for one without entries."""
        log = self._logs.get(request_id)
        if log is None or log.closed or self._has_lease(request_id):
            return None
        return log.entries[-1].seq if log.entries else 0

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """None when the request is unknown or has no file of this hash."""
        log = self._logs.get(request_id)
        return None if log is None else log.files.get(sha256)

    async def erase(self, request_id: str) -> bool:
        """Remove the log with its files, its lease and its idempotency key, and wake its readers."""
        log = self._logs.pop(request_id, None)
        if log is None:
            return False
        self._size -= log.size
        self._closed_logs.pop(request_id, None)
        self._reminders.pop(request_id, None)
        await self.release(log.meta.claim, request_id)
        self._forget(request_id)
        return True

    def read(self, request_id: str, *, after: int = 0, idle_s: float | None = None) -> AsyncIterator[LogEntry | None]:
        """Entries from the list in memory; a signal wakes a reader, which never polls."""

        async def page(position: int) -> Page:
            log = self._logs.get(request_id)
            if log is None:
                return Page((), final=True)
            start = bisect_right(log.entries, position, key=lambda entry: entry.seq)
            return Page(log.entries[start : start + PAGE], final=log.closed)

        return follow(page, self._signals, request_id, after=after, idle_s=idle_s)

    async def claim(self, key: str, claim: IdempotencyClaim) -> IdempotencyClaim | None:
        """Take the key for `retention_s`, unless a claim of it is still valid."""
        held = self._claims.get(key)
        if held is not None and held[1] > self._clock():
            return held[0]
        self._claims[key] = (claim, self._clock() + self._retention_s)
        return None

    async def release(self, key: str, request_id: str) -> None:
        """Give the key back if the request holds it."""
        held = self._claims.get(key)
        if held is not None and held[0].request_id == request_id:
            del self._claims[key]

    async def set_reminder(self, request_id: str, after_s: float | None) -> None:
        """Keep the time in this process; nothing for a request that is unknown or erased."""
        self._reminders.pop(request_id, None)
        if after_s is not None and request_id in self._logs:
            self._reminders[request_id] = self._clock() + after_s

    async def reminders(self, *, again_s: float) -> Sequence[str]:
        """Those whose time has come, put off by `again_s`."""
        now = self._clock()
        due = [request_id for request_id, at in self._reminders.items() if at <= now][:REMINDERS]
        self._reminders |= dict.fromkeys(due, now + again_s)
        return due

    async def ping(self) -> None:
        """Do nothing: there is nothing that could fail."""
        return

    async def purge(self) -> None:
        """Forget logs, idempotency keys and rate counters that are past their time."""
        await self._trim()
        now = self._clock()
        self._claims = {key: held for key, held in self._claims.items() if held[1] > now}
        self._buckets = {name: empty_at for name, empty_at in self._buckets.items() if empty_at > now}

    async def _trim(self) -> None:
        """Forget the closed logs whose time is over, and the oldest while all take too much; those of cases last."""
        for oldest in list(takewhile(self._is_due, self._closed_logs)):
            if not self._is_due(oldest):
                break  # erasing others made room
            if not self._is_kept(oldest):
                await self.erase(oldest)
        while self._size > self._max_bytes and (oldest := next(iter(self._closed_logs), "")):
            await self.erase(oldest)

    def _is_due(self, closed: str) -> bool:
        is_over = self._clock() - self._logs[closed].touched > self._retention_s
        return is_over or self._size > self._max_bytes

    async def scrub(self) -> None:
        """Nothing is left: memory has no files."""
        return

    async def aclose(self) -> None:
        """Wake all readers; the logs stay until the process ends."""
        self._signals.notify_all()

    def _add_size(self, log: _Log, size: int) -> None:
        log.size += size
        self._size += size


def _compact_copy(payload: bytes) -> bytes:
    """A copy as long as it is: what orjson writes keeps its buffer, some 4 KB for an event of 100 bytes."""
    return bytes(memoryview(payload))
