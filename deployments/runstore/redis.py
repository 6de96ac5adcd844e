"""The run store in Redis: for several gateways, on one node or many.

A log is a stream whose entry ids are the events' own `seq`. The script that appends drops entries that are not above
the last, and those of a log that is closed, erased, or taken over by another gateway. Appends publish a signal
on one channel, to which every gateway listens with one connection; readers that missed it poll. All times are by the
clock of Redis. Everything has an expiry, also while a request runs, so that nothing outlives its retention even if
every gateway is killed.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError

from deployments.runstore.log_following import PAGE, Page, follow
from deployments.runstore.log_packing import pack_entries, unpack_entries
from deployments.runstore.port import (
    PROBE_BYTES,
    REMINDERS,
    STORE_VERSION,
    IdempotencyClaim,
    KeyTaken,
    LogEntry,
    LogLost,
    StoreUnavailable,
)
from deployments.runstore.redis_cases import RedisCases
from deployments.runstore.redis_channel import RedisChannel
from deployments.runstore.redis_scripts import (
    ABANDONED,
    APPEND,
    ATTACH,
    CLOSE,
    DUE,
    OPEN,
    PACK,
    PROBE,
    RELEASE,
    REMIND,
    REMINDED,
    SAVE,
    TAKE,
    TAKE_OVER,
)
from deployments.runstore.run_meta import RunMeta
from deployments.runstore.stored_values import value_of
from tts.aio import heeding_cancels
from tts.net.redis_password import run_store_password
from tts.ports.toolbox import Attachment

P = ParamSpec("P")
T = TypeVar("T")

_POLL_S = 1.0
_SILENCE_S = 5.0
_PATIENCE_S = 20.0  # work and readers outlast an outage of this length, as long as a failover takes; nothing new begins
_RUNNING_EXTRA_S = 3600.0  # a running request may take this long on top of its retention
_PACKED_AFTER_S = 300.0  # from its end: readers that were cut off have come back by then
_PACKED_AT_ONCE = 100


@contextmanager
def _as_store_errors() -> Iterator[None]:
    try:
        with heeding_cancels():
            yield
    except RedisError as error:
        raise StoreUnavailable(_error_text(error)) from error


def _error_text(error: RedisError) -> str:
    if isinstance(error, OutOfMemoryError):
        return "the run store is full: Redis has reached its maxmemory"
    if isinstance(error, ReadOnlyError):
        return "the run store cannot be written: this Redis is a read-only replica"
    return f"the run store cannot be reached: {type(error).__name__}"


def _retry_until_answered(ask: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """For what may be asked twice: again until there is an answer, or StoreUnavailable after `_PATIENCE_S`."""

    @wraps(ask)
    async def ask_until_answered(*args: P.args, **kwargs: P.kwargs) -> T:
        now = asyncio.get_running_loop().time
        give_up = now() + _PATIENCE_S
        while True:
            try:
                with _as_store_errors():
                    return await ask(*args, **kwargs)
            except StoreUnavailable:
                if now() > give_up:
                    raise
            await asyncio.sleep(_PATIENCE_S / 100)

    return ask_until_answered


class RedisRunStore(RedisCases):
    """`url` as redis-py reads it (redis://, rediss://, unix://); `prefix` keeps installations apart."""

    shared = True

    def __init__(
        self, url: str, retention_s: float, *, prefix: str = "geotts", packed_after_s: float = _PACKED_AFTER_S
    ) -> None:
        # a connection that broke, or leads to what was the master before a failover, is made anew at once; silence is
        # not waited for twice
        anew = (RedisConnectionError, ReadOnlyError)
        retry = Retry(ExponentialBackoff(cap=0.5, base=0.02), 4, supported_errors=anew)
        self._redis: Redis = Redis.from_url(
            url,
            password=run_store_password(os.environ),
            retry=retry,
            socket_connect_timeout=2.0,
            socket_timeout=_SILENCE_S,
        )
        self._retention_s = max(1, round(retention_s))
        self._running_s = max(1, round(retention_s + _RUNNING_EXTRA_S))
        self._prefix = f"{prefix}:v{STORE_VERSION}"
        self._all_leases_key = f"{self._prefix}:all-leases"
        self._reminders_key = f"{self._prefix}:reminders"
        self._ended_key = f"{self._prefix}:ended"
        self._packed_after_s = round(packed_after_s)
        self._append_script = self._redis.register_script(APPEND)
        self._owner = secrets.token_hex(8)
        self._channel = RedisChannel(self._redis, f"{self._prefix}:bells", silence_s=_SILENCE_S)

    async def open(self, meta: RunMeta, *, lease_s: float, max_open: int | None = None) -> bool:
        """One script looks at the key, counts the leases of the tenant and starts the log, or does nothing."""
        self._channel.listen()
        id_ = meta.request_id
        parts = (self._key(id_, "meta"), self._key(id_, "log"))
        keys = (self._leases_key(meta.tenant), *parts, self._all_leases_key, self._claim_key(meta.claim))
        limit = -1 if max_open is None else max_open
        args = (id_, lease_s, limit, meta.model_dump_json(), self._running_s, self._owner, int(bool(meta.claim)))
        opened = int(await self._run_script(OPEN, keys, args))
        if opened < 0:
            raise KeyTaken
        return bool(opened)

    @_retry_until_answered
    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """One script appends and rings. Tried again for 20 s; what was written before is not written twice."""
        fields = [field for entry in entries for field in (entry.seq, entry.kind, entry.payload)]
        args = (self._channel.name, b"w" + request_id.encode(), self._owner, *fields)
        await self._append_script(keys=(self._key(request_id, "log"), self._key(request_id, "meta")), args=args)

    @_retry_until_answered
    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Keep the file in a hash with an expiry. Tried again for 20 s."""
        keys = (self._key(request_id, "meta"), self._key(request_id, "files"))
        args = (attachment.sha256, attachment.media_type, attachment.data, self._running_s)
        await self._run_script(ATTACH, keys, args)

    @_retry_until_answered
    async def close(self, meta: RunMeta) -> bool:
        """Give up the lease, let all keys expire after the retention, wake readers. Tried again for 20 s."""
        id_ = meta.request_id
        parts = (self._key(id_, part) for part in ("meta", "log", "files", "saved"))
        keys = (self._leases_key(meta.tenant), self._all_leases_key, *parts, self._ended_key)
        closed = bool(await self._run_script(CLOSE, keys, (id_, self._retention_s, self._owner, self._packed_after_s)))
        await self._notify_gateways(b"w", id_)
        return closed

    @_retry_until_answered
    async def save(self, request_id: str, name: str, data: bytes) -> None:
        """Keep it in a hash with an expiry, which `close` deletes. Tried again for 20 s."""
        keys = (self._key(request_id, "meta"), self._key(request_id, "saved"))
        await self._run_script(SAVE, keys, (self._owner, name, data, self._running_s))

    async def saved_files(self, request_id: str) -> Mapping[str, bytes]:
        """All of that hash."""
        with _as_store_errors():
            found = cast(dict[bytes, bytes], await self._redis.hgetall(self._key(request_id, "saved")))
        return {name.decode(): data for name, data in found.items()}

    async def take_over(self, meta: RunMeta, *, lease_s: float) -> bool:
        """One script looks at the lease by the clock of Redis and takes it."""
        self._channel.listen()
        keys = (self._leases_key(meta.tenant), self._all_leases_key, self._key(meta.request_id, "meta"))
        return bool(await self._run_script(TAKE_OVER, keys, (meta.request_id, lease_s, self._owner)))

    async def requests_without_lease(self, *, for_s: float) -> Sequence[str]:
        """By the set of the leases of all tenants, and the clock of Redis."""
        found = await self._run_script(ABANDONED, (self._all_leases_key,), (for_s,))
        return [name.decode() for name in found]

    async def meta(self, request_id: str) -> RunMeta | None:
        """None also when its keys have expired. StoreUnavailable also when this release cannot read it."""
        raw = await self._meta_field(request_id, "meta")
        return None if raw is None else value_of(RunMeta, raw)

    async def is_open(self, request_id: str) -> bool:
        """Whether the request is known and not marked as closed, also when its log is lost."""
        return await self._meta_field(request_id, "closed") == b"0"

    async def last_seq_without_lease(self, request_id: str) -> int | None:
        """The last `seq` of an open log whose lease is over by the clock of Redis; 0 for one without entries."""
        meta = await self.meta(request_id)
        if meta is None:
            return None
        with _as_store_errors():
            until = await self._redis.zscore(self._leases_key(meta.tenant), request_id)
            if until is not None and until > await self._now():
                return None
            if not await self.is_open(request_id):  # asked last: closing takes the lease away
                return None
            last = await self._redis.xrevrange(self._key(request_id, "log"), count=1)
        return _seq_of(cast(bytes, last[0][0])) if last else 0

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """None when the request has no file of this hash, or its files have expired."""
        with _as_store_errors():
            media, data = await self._redis.hmget(self._key(request_id, "files"), [f"{sha256}:type", sha256])
        return None if data is None or media is None else Attachment(sha256=sha256, media_type=media, data=data)

    async def erase(self, request_id: str) -> bool:
        """Delete lease, keys and idempotency key one after the other, then wake readers at all gateways."""
        meta = await self.meta(request_id)
        if meta is None:
            return False
        parts = ("meta", "log", "packed", "files", "saved", "attended", "cancel")
        with _as_store_errors():
            for times in (self._leases_key(meta.tenant), self._all_leases_key, self._reminders_key):
                await self._redis.zrem(times, request_id)
            for part in parts:
                await self._redis.delete(self._key(request_id, part))
        if meta.claim:
            await self.release(meta.claim, request_id)
        await self._notify_gateways(b"w", request_id)
        return True

    async def renew(self, metas: Sequence[RunMeta], *, lease_s: float) -> Sequence[str]:
        """One round trip for all. A lease that is gone is not made again."""
        if not metas:
            return []
        with _as_store_errors():
            until = await self._now() + lease_s
            async with self._redis.pipeline(transaction=False) as pipe:
                for meta in metas:
                    for leases in (self._leases_key(meta.tenant), self._all_leases_key):
                        pipe.zadd(leases, {meta.request_id: until}, xx=True)
                for meta in metas:
                    pipe.exists(self._key(meta.request_id, "cancel"))
                    pipe.hmget(self._key(meta.request_id, "meta"), ["closed", "owner"])
                    pipe.exists(self._key(meta.request_id, "log"))
                found = (await pipe.execute())[2 * len(metas) :]
        states = zip(metas, found[::3], found[1::3], found[2::3], strict=True)
        mine = [b"0", self._owner.encode()]
        return [meta.request_id for meta, cancelled, state, log in states if cancelled or state != mine or not log]

    async def attend(self, request_id: str, seconds: float) -> None:
        """Set a key that expires after `seconds`, unless a longer one is there or the log is not open."""
        key = self._key(request_id, "attended")
        with _as_store_errors():
            if await self._redis.pttl(key) < seconds * 1000 and await self.is_open(request_id):
                await self._redis.set(key, b"1", px=max(1, round(seconds * 1000)))

    async def attended_s(self, request_id: str) -> float:
        """The time that is left of that key; 0 without one."""
        with _as_store_errors():
            return max(0, await self._redis.pttl(self._key(request_id, "attended"))) / 1000

    async def ask_cancel(self, request_id: str) -> None:
        """Set a flag that `renew` finds and tell all gateways at once; nothing when the log is not open."""
        if await self.is_open(request_id):
            with _as_store_errors():
                await self._redis.set(self._key(request_id, "cancel"), b"1", ex=self._running_s)
            await self._notify_gateways(b"c", request_id)

    async def cancels(self) -> AsyncIterator[str]:
        """What gateways publish; what is missed while the connection is lost, `renew` finds by its flag."""
        self._channel.listen()
        while True:
            yield await self._channel.asked.get()

    def read(self, request_id: str, *, after: int = 0, idle_s: float | None = None) -> AsyncIterator[LogEntry | None]:
        """Woken by the channel of all gateways, and looks by itself each second. Pages are tried again for 20 s."""
        self._channel.listen()

        @_retry_until_answered
        async def page(position: int) -> Page:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hget(self._key(request_id, "meta"), "closed")
                pipe.xrange(self._key(request_id, "log"), min=f"{max(position, 0) + 1}-0", count=PAGE)
                pipe.exists(self._key(request_id, "log"))
                closed, rows, there = await pipe.execute()
            if closed is None or there:
                return Page([_log_entry(row) for row in rows], final=closed != b"0")
            if (value := await self._redis.get(self._key(request_id, "packed"))) is None:
                raise LogLost
            return Page(unpack_entries(cast(bytes, value), after=position, most=PAGE), final=True)

        return follow(page, self._channel.signals, request_id, after=after, idle_s=idle_s, poll_s=_POLL_S)

    async def claim(self, key: str, claim: IdempotencyClaim) -> IdempotencyClaim | None:
        """`SET NX` with the retention as expiry; asks again when the holder's key expires meanwhile."""
        with _as_store_errors():
            name = self._claim_key(key)
            while not await self._redis.set(name, claim.model_dump_json(), nx=True, ex=self._retention_s):
                held = await self._redis.get(name)
                if held is not None:
                    return value_of(IdempotencyClaim, held)
        return None

    async def release(self, key: str, request_id: str) -> None:
        """One script compares the holder and deletes the key."""
        await self._run_script(RELEASE, (self._claim_key(key),), (request_id,))

    async def take(self, name: str, *, per_minute: float, burst: int) -> float:
        """The bucket of all gateways together, in one script (GCRA, as in `SingleGateway.take`)."""
        return float(await self._run_script(TAKE, (f"{self._prefix}:bucket:{name}",), (60.0 / per_minute, burst)))

    @_retry_until_answered
    async def set_reminder(self, request_id: str, after_s: float | None) -> None:
        """A set with the times, by the clock of Redis. Tried again for 20 s."""
        keys = (self._reminders_key, self._key(request_id, "meta"))
        await self._run_script(REMIND, keys, (request_id, "" if after_s is None else after_s, self._running_s))

    async def reminders(self, *, again_s: float) -> Sequence[str]:
        """One script finds and puts off those that are due."""
        names = await self._run_script(REMINDED, (self._reminders_key,), (again_s, REMINDERS))
        return [name.decode() for name in names]

    async def ping(self) -> None:
        """One script sets a row of `PROBE_BYTES` and deletes it."""
        await self._run_script(PROBE, (f"{self._prefix}:probe:{secrets.token_hex(8)}",), (bytes(PROBE_BYTES),))

    async def purge(self) -> None:
        """Pack the logs of requests that ended `packed_after_s` ago; whatever is past its time expires by itself."""
        while due := await self._run_script(DUE, (self._ended_key,), (_PACKED_AT_ONCE,)):
            for request_id in due:
                await self._pack_log(request_id.decode())

    async def scrub(self) -> None:
        """Nothing: Redis decides what stays in its own files."""
        return

    async def _pack_log(self, request_id: str) -> None:
        meta, log, value = (self._key(request_id, part) for part in ("meta", "log", "packed"))
        with _as_store_errors():
            rows = cast("list[tuple[bytes, dict[bytes, bytes]]]", await self._redis.xrange(log, min="1-0"))
        if rows:
            await self._run_script(PACK, (meta, log, value), (pack_entries(_log_entry(row) for row in rows),))

    async def aclose(self) -> None:
        """Stop listening, wake all readers and close the connections."""
        await self._channel.aclose()
        await self._redis.aclose()

    async def _notify_gateways(self, kind: bytes, request_id: str) -> None:
        with _as_store_errors():
            await self._channel.notify(kind, request_id)

    async def _meta_field(self, request_id: str, name: str) -> bytes | None:
        with _as_store_errors():
            return cast("bytes | None", await self._redis.hget(self._key(request_id, "meta"), name))

    async def _now(self) -> float:
        seconds, micros = await self._redis.time()
        return float(seconds) + float(micros) / 1e6

    async def _run_script(self, script: str, keys: Sequence[str], args: Sequence[Any]) -> Any:
        with _as_store_errors():
            return await self._redis.eval(script, len(keys), *keys, *args)

    def _key(self, request_id: str, part: str) -> str:
        return f"{self._prefix}:run:{request_id}:{part}"

    def _leases_key(self, tenant: str) -> str:
        return f"{self._prefix}:leases:{tenant}"

    def _claim_key(self, key: str) -> str:
        return f"{self._prefix}:claim:{key}"


def _seq_of(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])


def _log_entry(row: tuple[bytes, dict[bytes, bytes]]) -> LogEntry:
    entry_id, fields = row
    return LogEntry(_seq_of(entry_id), fields[b"kind"].decode(), fields[b"payload"])
