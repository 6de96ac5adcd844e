"""The store of entries, leases and rate tokens: the port, and the implementation in memory.

A lease decides which of several processes makes a call; it expires if its holder dies. `take` reserves a place in a
rate limit and returns how long to wait for it. All implementations pass `tests/contract/test_cache_store.py`.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from tts.domain.value import Value
from tts.errors import GeoTTSError
from tts.toolkit.broker.cache_entry import Entry


class StoreError(GeoTTSError):
    """The store cannot be used now; the broker goes on without it."""

    code = "cache-store"


class Rate(Value):
    """At most `per_s` a second in the long run, `burst` at once."""

    per_s: float
    burst: float = 1.0


class CacheStore(Protocol):
    """Every method may raise StoreError."""

    async def get(self, key: str) -> Entry | None:
        """The entry, fresh or not; None when there is none."""
        ...

    async def put(self, key: str, entry: Entry) -> None:
        """Durable when it returns: a killed process loses nothing that was put."""
        ...

    async def lease(self, key: str, ttl_s: float) -> str | None:
        """A token when nobody else holds the lease of `key`, for at most `ttl_s`."""
        ...

    async def release(self, key: str, token: str) -> None:
        """End a lease before its time. Does nothing when another holder has it by now."""
        ...

    async def take(self, bucket: str, rate: Rate, *, max_wait_s: float) -> float:
        """Seconds to wait before going ahead. Negative when that is more than `max_wait_s`: nothing was booked."""
        ...

    async def forget(self, photo_sha256: str) -> int:
        """Remove every entry of a photo; returns how many."""
        ...

    async def purge(self) -> None:
        """Remove what is past its time. Stores that forget by themselves do nothing."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and files."""
        ...


class MemoryStore:
    """In this process only: bounded in bytes, least recently used first out."""

    def __init__(self, *, max_bytes: int = 64 * 2**20, now: Callable[[], float] = time.time) -> None:
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._leases: dict[str, tuple[str, float]] = {}
        self._buckets: dict[str, float] = {}
        self._max_bytes = max_bytes
        self._now = now
        self._bytes = 0

    def peek(self, key: str) -> Entry | None:
        """`get` without waiting."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def keep(self, key: str, entry: Entry) -> None:
        """`put` without waiting."""
        self._drop(key)
        self._entries[key] = entry
        self._bytes += entry.size
        while self._bytes > self._max_bytes and len(self._entries) > 1:
            self._drop(next(iter(self._entries)))

    async def get(self, key: str) -> Entry | None:
        """Drops an entry that is past its time and returns None for it."""
        entry = self.peek(key)
        if entry is not None and self._now() >= entry.stored_at + entry.kept_s:
            self._drop(key)
            return None
        return entry

    async def put(self, key: str, entry: Entry) -> None:
        """The entries used longest ago go when there are too many bytes. Nothing outlives the process."""
        self.keep(key, entry)

    async def lease(self, key: str, ttl_s: float) -> str | None:
        """Only calls in this process compete for it."""
        held = self._leases.get(key)
        if held is not None and held[1] > self._now():
            return None
        token = secrets.token_hex(8)
        self._leases[key] = (token, self._now() + ttl_s)
        return token

    async def release(self, key: str, token: str) -> None:
        """Delete the lease if it still has this token."""
        if self._leases.get(key, ("", 0.0))[0] == token:
            del self._leases[key]

    async def take(self, bucket: str, rate: Rate, *, max_wait_s: float) -> float:
        """The rate is shared within this process only."""
        wait, booked = booking(self._buckets.get(bucket, 0.0), self._now(), rate)
        if wait > max_wait_s:
            return -wait
        self._buckets[bucket] = booked
        return wait

    async def forget(self, photo_sha256: str) -> int:
        """Looks through all entries."""
        doomed = [key for key, entry in self._entries.items() if photo_sha256 in entry.photos]
        for key in doomed:
            self._drop(key)
        return len(doomed)

    async def purge(self) -> None:
        """Drops entries and leases that are past their time."""
        now = self._now()
        for key in [key for key, entry in self._entries.items() if now >= entry.stored_at + entry.kept_s]:
            self._drop(key)
        self._leases = {key: held for key, held in self._leases.items() if held[1] > now}

    async def aclose(self) -> None:
        """Drop all entries. The store may be used again."""
        self._entries.clear()
        self._bytes = 0

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size


def booking(arrival: float, now: float, rate: Rate) -> tuple[float, float]:
    """The generic cell rate algorithm: seconds to wait, and the next theoretical arrival after this booking."""
    interval = 1.0 / rate.per_s
    arrival = max(arrival, now)
    return max(0.0, arrival - (rate.burst - 1.0) * interval - now), arrival + interval
