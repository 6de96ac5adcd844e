"""The port of the run store, which keeps the state of requests until it is erased.

One port for everything gateways share: event logs, files, cases, cancel flags, idempotency keys, leases, rate counters.
The log is the only buffer between a request and its readers: every reader keeps a position in it, so a stalled reader
costs nothing and a resumed one misses nothing. Three implementations pass one contract suite: memory and SQLite for
exactly one gateway, Redis for several.

Invariants: `seq` decides; an entry whose `seq` is not above the log's last is dropped, so a gateway that was thought
dead cannot write over the end another one gave its request. In a store that gateways share, a request has one owner:
the gateway that opened it, or the one that took it over. What was erased stays erased: late appends and files are
dropped.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ConfigDict

from deployments.runstore.case_record import CaseStore
from deployments.runstore.run_meta import RunMeta
from tts.domain.value import Value
from tts.errors import GeoTTSError
from tts.ports.toolbox import Attachment

STORE_VERSION = 1
REMINDERS = 100  # given at once
PROBE_BYTES = 4096  # of the row by which a store is tried: more than any event but the largest


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event as it goes over the wire.

    Attributes:
        seq: the number of the event in its request, from 1.
        kind: the name of the event, such as `turn_finished`.
        payload: the event as JSON, in UTF-8.
    """

    seq: int
    kind: str
    payload: bytes


class IdempotencyClaim(Value):
    """Who holds an idempotency key: the request, and a fingerprint of what it asked."""

    model_config = ConfigDict(extra="ignore")

    request_id: str
    fingerprint: str


class KeyTaken(GeoTTSError):
    """The idempotency key of a request that is to be opened is not its own: another request took it meanwhile."""

    code = "key-taken"
    status = 409

    def __init__(self, detail: str = "the idempotency key was taken by another request"):
        super().__init__(detail)


class StoreUnavailable(GeoTTSError):
    """The store cannot be reached; the request is not accepted, or its state cannot be read now."""

    code = "store-unavailable"
    status = 503


class LogLost(StoreUnavailable):
    """The events of a request that is still known are gone: the store was flushed, or evicted them."""

    code = "log-lost"

    def __init__(self, detail: str = "the events of this request are gone: it was erased, or the run store lost them"):
        super().__init__(detail)


class RunStore(CaseStore, Protocol):
    """Async, and safe to call from many tasks. Every method may raise StoreUnavailable.

    `shared`: other gateways may use it, too.
    """

    shared: bool

    async def open(self, meta: RunMeta, *, lease_s: float, max_open: int | None = None) -> bool:
        """Start a log that this gateway keeps alive.

        Args:
            meta: the request; its id is new.
            lease_s: seconds that the lease is valid from now on; `renew` prolongs it.
            max_open: how many requests of `meta.tenant` may have a valid lease, this one included. None: any number.

        Returns:
            False, and nothing is kept, when the tenant has `max_open` already.

        Raises:
            KeyTaken: `meta.claim` is a key that this request does not hold; nothing is kept.
        """
        ...

    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """Add entries and wake readers. The same entries may be appended again.

        Args:
            request_id: an open request. If it is closed, erased or unknown, or another gateway has taken it over, the
                entries are dropped.
            entries: in the order of `seq`; those with a `seq` not above the last of the log are dropped.
        """
        ...

    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Keep a file as long as the request; once for each hash, however often it is attached.

        Args:
            request_id: the request; if it is erased or unknown, the file is dropped.
            attachment: the bytes, under the SHA-256 that events name them by.
        """
        ...

    async def close(self, meta: RunMeta) -> bool:
        """No entry will follow: readers end, and the time of retention begins. What was saved is dropped.

        Args:
            meta: as it was opened; its tenant no longer counts the request.

        Returns:
            False, and nothing changes, when another gateway has taken the request over. Closing again is True.
        """
        ...

    async def save(self, request_id: str, name: str, data: bytes) -> None:
        """Keep what another gateway needs to go on with an open request.

        A store that only one gateway uses keeps nothing.

        Args:
            request_id: a request of this gateway; otherwise nothing is kept.
            name: what the data are of this request; the last `data` of a name counts.
            data: bytes that only gateways read.
        """
        ...

    async def saved_files(self, request_id: str) -> Mapping[str, bytes]:
        """Return what was saved of an open request, by name.

        Args:
            request_id: the request.

        Returns:
            The bytes of each file by its name; empty when nothing was saved, or the request is closed or unknown.
        """
        ...

    async def take_over(self, meta: RunMeta, *, lease_s: float) -> bool:
        """Become the gateway of an open request without a valid lease.

        From then on the store drops what the earlier gateway appends or closes.

        Args:
            meta: what `meta` returned for the request.
            lease_s: seconds that the new lease is valid from now on.

        Returns:
            True for one gateway only. False when the request has a lease, is closed or is unknown.
        """
        ...

    async def requests_without_lease(self, *, for_s: float) -> Sequence[str]:
        """List requests that lost their gateway, at most 100, the oldest first.

        Args:
            for_s: seconds that have passed at least since the lease ended.

        Returns:
            Ids of requests of all gateways. Some may be closed already: `take_over` refuses them. A store that only one
            gateway uses has none.
        """
        ...

    async def meta(self, request_id: str) -> RunMeta | None:
        """Return what `open` was given.

        Args:
            request_id: the request, open or closed.

        Returns:
            None when the request is unknown, erased or past its retention.
        """
        ...

    def read(self, request_id: str, *, after: int = 0, idle_s: float | None = None) -> AsyncIterator[LogEntry | None]:
        """Read the entries of a log, then new ones as they come, until the log is closed.

        Args:
            request_id: the request. A log that is erased or unknown has no further entries.
            after: the last `seq` that the reader has; 0 for the whole log.
            idle_s: seconds without an entry after which None is yielded, again and again. None: only entries are
                yielded.

        Returns:
            An iterator over entries in the order of `seq`, with None for a time without entries.

        Raises:
            LogLost: the request is known, and its entries are gone.
        """
        ...

    async def is_open(self, request_id: str) -> bool:
        """Tell whether a request still runs.

        Args:
            request_id: the request, whichever gateway has it, and with a valid lease or without one.

        Returns:
            True for a log of this request that was not closed.
        """
        ...

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """Return a file of a request.

        Args:
            request_id: the request; files of other requests are not found, whatever their hash.
            sha256: the hash in hexadecimal, as `attach` was given it.

        Returns:
            None when this request has no such file, or is unknown, erased or past its retention.
        """
        ...

    async def erase(self, request_id: str) -> bool:
        """Remove every trace of a request, its idempotency key too if it still has it, and end its readers.

        Args:
            request_id: the request, open or closed. What its gateway appends afterwards is dropped.

        Returns:
            False when there was none.

        Raises:
            StoreUnavailable: some of it may be left, until its retention is over.
        """
        ...

    async def renew(self, metas: Sequence[RunMeta], *, lease_s: float) -> Sequence[str]:
        """Say that these requests are being worked on.

        Args:
            metas: the requests of this gateway. A lease that is gone is not made again.
            lease_s: seconds that the leases are valid from now on.

        Returns:
            The ids of those whose work is to stop: somebody wants them cancelled, or there is nothing left to write to,
            as they were erased, closed or taken over.
        """
        ...

    async def last_seq_without_lease(self, request_id: str) -> int | None:
        """Find out whether an open request lost its gateway.

        Args:
            request_id: the request.

        Returns:
            The last `seq` of an open log without a valid lease, 0 for one without entries; None for any other request.
        """
        ...

    async def attend(self, request_id: str, seconds: float) -> None:
        """Say that somebody reads, so that the work goes on. Never shortens what was promised before.

        Args:
            request_id: an open request, of whichever gateway; nothing is promised for any other.
            seconds: how long the work must go on at least, from now.
        """
        ...

    async def attended_s(self, request_id: str) -> float:
        """Ask how long the work was promised to go on.

        Args:
            request_id: the request.

        Returns:
            Seconds from now; 0 when nothing was promised, or when they are over.
        """
        ...

    async def ask_cancel(self, request_id: str) -> None:
        """Ask the gateway that works on a request to stop, wherever it is; returns before it has stopped.

        Args:
            request_id: the request; nothing happens if it is closed or unknown. Asking again is no error.
        """
        ...

    def cancels(self) -> AsyncIterator[str]:
        """Wait for requests that somebody asks to stop. For one consumer a gateway.

        Returns:
            An iterator over their ids, as the asking comes in. It has no end.
        """
        ...

    async def claim(self, key: str, claim: IdempotencyClaim) -> IdempotencyClaim | None:
        """Take an idempotency key for the time of retention.

        Args:
            key: the caller's key, made unique among tenants.
            claim: who takes it.

        Returns:
            The claim that holds the key already; None: it is taken now. Of several that ask at a time, one gets None.
        """
        ...

    async def release(self, key: str, request_id: str) -> None:
        """Give an idempotency key back.

        Args:
            key: as in `claim`.
            request_id: its holder. Nothing happens when another request holds the key by now, or nobody does.
        """
        ...

    async def take(self, name: str, *, per_minute: float, burst: int) -> float:
        """Take one token of a bucket that all gateways share.

        Args:
            name: the bucket; it is made when it is first named, and full then.
            per_minute: tokens that flow in, above 0.
            burst: tokens that the bucket holds, 1 or more.

        Returns:
            0.0 when a token was taken; otherwise the seconds until there is one, and none was taken.
        """
        ...

    async def set_reminder(self, request_id: str, after_s: float | None) -> None:
        """Say that something is still to be done about a request that ended. The last word counts.

        Args:
            request_id: the request; one that is erased or unknown has no reminder.
            after_s: seconds from now until it is due; None: it was done.
        """
        ...

    async def reminders(self, *, again_s: float) -> Sequence[str]:
        """Take the reminders that are due. Of all gateways, one only gets each.

        Args:
            again_s: seconds until the same reminder is due again, unless `set_reminder` says that it was done.

        Returns:
            The ids of at most 100 requests.
        """
        ...

    async def ping(self) -> None:
        """Write a row and delete it. Raises StoreUnavailable when that fails."""
        ...

    async def purge(self) -> None:
        """Erase what is past its retention, and `scrub`. Stores that forget by themselves do nothing."""
        ...

    async def scrub(self) -> None:
        """Remove what an erasure may have left in files. Until then, somebody who reads the disk may find parts of it.

        Raises:
            StoreUnavailable: something may be left. The next `purge` tries again.
        """
        ...

    async def aclose(self) -> None:
        """Wake all readers, then close connections and files."""
        ...
