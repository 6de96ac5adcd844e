"""The store of a cluster: Redis, shared by every Tools replica.

Entries expire by themselves; leases are keys that only their holder deletes; rates are booked by a script on the
server's clock, so that machines need not agree on the time.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import redis.asyncio as redis
from redis.exceptions import RedisError

from tts.aio import heeding_cancels
from tts.net.redis_password import tool_cache_password
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.cache_store import Rate, StoreError

_RELEASE_SCRIPT = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TAKE_SCRIPT = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local interval = 1 / tonumber(ARGV[1])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = math.max(0, arrival - (tonumber(ARGV[2]) - 1) * interval - now)
if wait > tonumber(ARGV[3]) then return tostring(-wait) end
local ends = arrival + interval
redis.call('SET', KEYS[1], string.format('%.6f', ends), 'PX', math.ceil((ends - now) * 1000) + 1000)
return string.format('%.6f', wait)
"""
_FORGET_SCRIPT = """
local gone = 0
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do gone = gone + redis.call('DEL', ARGV[1] .. key) end
redis.call('DEL', KEYS[1])
return gone
"""


class RedisStore:
    """The `CacheStore` over Redis. The password comes from the environment.

    Args:
        url: `redis://…` or `rediss://…`; nothing is connected before the first call.
        prefix: the beginning of the name of every key.
    """

    def __init__(self, url: str, *, prefix: str = "geotts:tools:1:") -> None:
        self._prefix = prefix
        self._redis = redis.Redis.from_url(
            url,
            password=tool_cache_password(os.environ),
            socket_timeout=2.0,
            socket_connect_timeout=2.0,
            health_check_interval=30,
            max_connections=128,
        )
        self._release_script = self._redis.register_script(_RELEASE_SCRIPT)
        self._take_script = self._redis.register_script(_TAKE_SCRIPT)
        self._forget_script = self._redis.register_script(_FORGET_SCRIPT)

    async def get(self, key: str) -> Entry | None:
        """None also for an entry that another version of the schema wrote."""
        with _map_store_errors():
            data = await self._redis.get(self._name("c", key))
        return Entry.decode(data) if isinstance(data, bytes) else None

    async def put(self, key: str, entry: Entry) -> None:
        """One transaction writes the entry and its key into the index of each of its photos."""
        with _map_store_errors():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.set(self._name("c", key), entry.encode(), px=max(1, int(entry.kept_s * 1000)))
                for photo in entry.photos:
                    pipe.sadd(self._name("p", photo), key)
                    kept_ms = max(1, int(entry.kept_s * 1000))  # the index lives as long as the longest of its results
                    pipe.pexpire(self._name("p", photo), kept_ms, nx=True)
                    pipe.pexpire(self._name("p", photo), kept_ms, gt=True)
                await pipe.execute()

    async def lease(self, key: str, ttl_s: float) -> str | None:
        """The lease is a key with a random token, written only where there is none."""
        token = secrets.token_hex(8)
        with _map_store_errors():
            took = await self._redis.set(self._name("l", key), token, nx=True, px=max(1, int(ttl_s * 1000)))
        return token if took else None

    async def release(self, key: str, token: str) -> None:
        """Delete the lease if it still holds this token."""
        with _map_store_errors():
            await self._release_script(keys=[self._name("l", key)], args=[token])

    async def take(self, bucket: str, rate: Rate, *, max_wait_s: float) -> float:
        """Book by the server's clock, in one script."""
        with _map_store_errors():
            return float(
                await self._take_script(keys=[self._name("b", bucket)], args=[rate.per_s, rate.burst, max_wait_s])
            )

    async def forget(self, photo_sha256: str) -> int:
        """Delete the entries that the index of the photo names, then the index."""
        index = self._name("p", photo_sha256)
        with _map_store_errors():
            return int(await self._forget_script(keys=[index], args=[self._name("c", "")]))

    async def purge(self) -> None:
        """Does nothing: Redis drops keys when they expire."""
        return

    async def aclose(self) -> None:
        """Close all connections to Redis."""
        await self._redis.aclose()

    def _name(self, kind: str, key: str) -> str:
        return f"{self._prefix}{kind}:{key}"


@contextmanager
def _map_store_errors() -> Iterator[None]:
    """Redis's own errors and those of its socket; the message may hold the URL's password and is dropped."""
    try:
        with heeding_cancels():
            yield
    except (RedisError, OSError) as error:
        raise StoreError(f"the tool cache failed: {type(error).__name__}") from RedisError(type(error).__name__)
