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
from tts.domain.outgoing import Outgoing
from tts.domain.value import Value
from tts.errors import GeoTTSError
from tts.ports.toolbox import Attachment

STORE_VERSION = 1
REMINDERS = 100  # given at once
PROBE_BYTES = 4096  # of the row by which a store is tried: more than any event but the largest


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event as it goes over the wire."""

    seq: int
    kind: str
    payload: bytes


class RunMeta(Value):
    """The data of a request besides its events. `tenant` is the name of the key that started it, `fetched`
    what went out to get its photos, `attended` whether it ends with its readers, `options` its options as JSON,
    `webhook` where its end is reported, `continues` the earlier request that it continues. What a newer release adds is
    passed over.
    """

    model_config = ConfigDict(extra="ignore")

    request_id: str
    tenant: str = ""
    include: str = "summary"
    grace_s: float = 0.0
    photos: tuple[str, ...] = ()
    claim: str = ""
    started_at: str = ""
    attended: bool = True
    options: str = ""
    webhook: str = ""
    fetched: tuple[Outgoing, ...] = ()
    continues: str = ""


class Claim(Value):
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
        """Start a log that this gateway keeps alive. False, and nothing is kept, when the tenant has `max_open`
        already.

        Raises:
            KeyTaken: `meta.claim` is a key that this request does not hold; nothing is kept.
        """
        ...

    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """Add entries; those with a `seq` not above the last, and those of an erased request, are dropped."""
        ...

    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Keep a file under its SHA-256 as long as the request; dropped when the request was erased."""
        ...

    async def close(self, meta: RunMeta) -> bool:
        """No entry will follow: readers end, and the time of retention begins. What was saved is dropped.

        False, and nothing changes, when another gateway has taken the request over.
        """
        ...

    async def save(self, request_id: str, name: str, data: bytes) -> None:
        """Keep what another gateway needs to go on with an open request; the last `data` of a name counts.

        A store that only one gateway uses keeps nothing.
        """
        ...

    async def saved(self, request_id: str) -> Mapping[str, bytes]:
        """What was saved of an open request, by name."""
        ...

    async def take_over(self, meta: RunMeta, *, lease_s: float) -> bool:
        """Become the gateway of an open request without a valid lease. True for one gateway only.

        From then on the store drops what the earlier gateway appends or closes.
        """
        ...

    async def abandoned(self, *, for_s: float) -> Sequence[str]:
        """Requests of all gateways whose lease ended at least `for_s` seconds ago, at most 100, the oldest first."""
        ...

    async def meta(self, request_id: str) -> RunMeta | None:
        """What `open` was given; None when the request is unknown, erased or past its retention."""
        ...

    def read(self, request_id: str, *, after: int = 0, idle_s: float | None = None) -> AsyncIterator[LogEntry | None]:
        """Entries with a `seq` above `after`, then new ones until the log closes; None after `idle_s` of silence.

        A log that is erased or unknown has no further entries. Raises LogLost where only part of a request is gone.
        """
        ...

    async def is_open(self, request_id: str) -> bool:
        """Whether there is a log of this request that was not closed."""
        ...

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """The file with this hash; None when this request has none."""
        ...

    async def erase(self, request_id: str) -> bool:
        """Remove every trace of a request, its idempotency key too if it still has it. False when there was none."""
        ...

    async def renew(self, metas: Sequence[RunMeta], *, lease_s: float) -> Sequence[str]:
        """Say that these requests are being worked on. Returns those that somebody wants cancelled, and those of which
        nothing is left to write to.
        """
        ...

    async def orphaned(self, request_id: str) -> int | None:
        """The last `seq` of an open log whose gateway has not renewed its lease in time; None for any other."""
        ...

    async def attend(self, request_id: str, seconds: float) -> None:
        """Somebody reads: the work must go on for at least `seconds`. Never shortens what was promised before."""
        ...

    async def attended_s(self, request_id: str) -> float:
        """Seconds for which the work was promised to go on."""
        ...

    async def ask_cancel(self, request_id: str) -> None:
        """Ask the gateway that works on it to stop, wherever it is."""
        ...

    def cancels(self) -> AsyncIterator[str]:
        """Requests that were asked to stop, as the asking comes in. For one consumer a gateway."""
        ...

    async def claim(self, key: str, claim: Claim) -> Claim | None:
        """Take an idempotency key for the time of retention. Returns who holds it already, or None: it is taken now."""
        ...

    async def release(self, key: str, request_id: str) -> None:
        """Give an idempotency key back; nothing when another request holds it by now."""
        ...

    async def take(self, name: str, *, per_minute: float, burst: int) -> float:
        """Take one token of a named bucket. Returns 0.0, or the seconds until there is one."""
        ...

    async def remind(self, request_id: str, after_s: float | None) -> None:
        """Say that something is still to be done about a request that ended, after so many seconds; None: it was done.

        The last word counts; an erased request has no reminder.
        """
        ...

    async def reminders(self, *, again_s: float) -> Sequence[str]:
        """Requests whose reminder is due, at most 100. Each is due again after `again_s`: one gateway only gets it."""
        ...

    async def ping(self) -> None:
        """Write a row and delete it. Raises StoreUnavailable when that fails."""
        ...

    async def purge(self) -> None:
        """Erase what is past its retention. Stores that forget by themselves do nothing."""
        ...

    async def aclose(self) -> None:
        """Wake all readers, then close connections and files."""
        ...
