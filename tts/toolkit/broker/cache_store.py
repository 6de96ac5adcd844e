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
    """A limit of calls.

    Attributes:
        per_s: calls a second in the long run, above 0.
        burst: calls that may be made at once, 1 or more.
    """

    per_s: float
    burst: float = 1.0


class CacheStore(Protocol):
    """Keeps entries, leases and rates."""

    async def get(self, key: str) -> Entry | None:
        """Return the entry of a call, fresh or not.

        Args:
            key: names the tool, its arguments and, where the result depends on them, the photos (`call_key`).

        Returns:
            None when there is none, when it is past `Entry.kept_s`, or when another release wrote it.

        Raises:
            StoreError: the store cannot be used now.
        """
        ...

    async def put(self, key: str, entry: Entry) -> None:
        """Keep an entry for `Entry.kept_s` seconds. In a store on disk or in Redis it outlives the process.

        Args:
            key: as in `get`; an entry that is there is replaced.
            entry: `forget` finds it by each of its `photos`.

        Raises:
            StoreError: as in `get`.
        """
        ...

    async def lease(self, key: str, ttl_s: float) -> str | None:
        """Take the right to make a call, so that no other process makes the same one.

        Args:
            key: as in `get`.
            ttl_s: seconds after which the lease ends by itself, if its holder died.

        Returns:
            A token for `release`; None while somebody else, in this process or another, holds the lease.

        Raises:
            StoreError: as in `get`.
        """
        ...

    async def release(self, key: str, token: str) -> None:
        """End a lease before its time. Does nothing when another holder has it by now.

        Args:
            key: as in `lease`.
            token: what `lease` returned.

        Raises:
            StoreError: as in `get`.
        """
        ...

    async def take(self, bucket: str, rate: Rate, *, max_wait_s: float) -> float:
        """Book a place in a rate limit that all users of the store share.

        Args:
            bucket: the name of the limit: that of a provider.
            rate: the limit; all users of a bucket must give the same.
            max_wait_s: the longest wait, in seconds, that is of use to the caller.

        Returns:
            Seconds to wait before the call; 0 for none. Negative when the wait would be longer than `max_wait_s`: then
            its length is the value without the sign, and nothing was booked.

        Raises:
            StoreError: as in `get`.
        """
        ...

    async def forget(self, photo_sha256: str) -> int:
        """Remove every entry of a photo, whichever process put it.

        Args:
            photo_sha256: `Photo.sha256`, as in `Entry.photos`.

        Returns:
            How many entries were removed; 0 when there were none.

        Raises:
            StoreError: as in `get`; entries may still be there.
        """
        ...

    async def purge(self) -> None:
        """Remove what is past its time. Stores that forget by themselves do nothing.

        Raises:
            StoreError: as in `get`.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and files.

        Raises:
            StoreError: as in `get`.
        """
        ...


class MemoryStore:
    """In this process only: bounded in bytes, least recently used first out.

    Args:
        max_bytes: how much the entries may hold together, by `Entry.size`.
        now: a clock in seconds since the epoch, that of `Entry.stored_at`.
    """

    def __init__(self, *, max_bytes: int = 64 * 2**20, now: Callable[[], float] = time.time) -> None:
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._leases: dict[str, tuple[str, float]] = {}
        self._buckets: dict[str, float] = {}
        self._max_bytes = max_bytes
        self._now = now
        self._bytes = 0

    def peek(self, key: str) -> Entry | None:
        """`get` without waiting.

        Args:
            key: as in `CacheStore.get`.

        Returns:
            The entry, also if it is past its time, unlike `get`; None when there is none.
        """
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def keep(self, key: str, entry: Entry) -> None:
        """`put` without waiting.

        Args:
            key: as in `CacheStore.get`; an entry that is there is replaced.
            entry: those used longest ago make room for it. One that is larger than the store is kept alone.
        """
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
    """Book a place in a rate limit by the generic cell rate algorithm.

    Args:
        arrival: the theoretical arrival that the booking before returned; 0 for the first booking.
        now: seconds, by the clock of `arrival`.
        rate: the limit that the bookings share.

    Returns:
        (seconds to wait, 0 or more; the next theoretical arrival after this booking).
    """
    interval = 1.0 / rate.per_s
    arrival = max(arrival, now)
    return max(0.0, arrival - (rate.burst - 1.0) * interval - now), arrival + interval
