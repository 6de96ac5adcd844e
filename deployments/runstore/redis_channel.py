"""The one channel of Redis by which gateways wake each other's readers and pass cancellations on."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from deployments.runstore.log_following import LogSignals
from tts.aio import cancel_and_wait, heeding_cancels, spawn

_log = logging.getLogger("geotts.runstore")


class RedisChannel:
    """`signals` wake readers of this gateway; `asked` has the requests that a caller wants to cancel."""

    def __init__(self, redis: Redis, name: str, *, silence_s: float) -> None:
        self._redis = redis
        self.name = name
        self._silence_s = silence_s
        self.signals = LogSignals()
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self._listener: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Start to listen, unless that is under way."""
        if self._listener is None or self._listener.done():
            self._listener = spawn(self._follow_channel(), name="run store signals")

    async def _follow_channel(self) -> None:
        """Rings and cancels from every gateway. A lost connection costs readers a second, nothing else.

        A connection that is silent is asked whether it still lives: one that a firewall forgot never says so itself,
        and those that are kept for commands went the same way.
        """
        while True:
            try:
                with heeding_cancels():  # around all of it: to connect, to subscribe and to let go wait as well
                    async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                        with heeding_cancels():
                            await channel.subscribe(self.name)
                        self.signals.notify_all()
                        await self._listen_to(channel)
            except RedisError as error:
                _log.warning("the connection to Redis was lost: %s", type(error).__name__)
                with suppress(RedisError), heeding_cancels():
                    await self._redis.connection_pool.disconnect(inuse_connections=False)
                await asyncio.sleep(0.5)

    async def _listen_to(self, channel: PubSub) -> None:
        """Until the connection is lost. Raises RedisError then."""
        asked = False
        while True:
            with heeding_cancels():
                message = await channel.get_message(timeout=self._silence_s)
                if message is None and not asked:
                    await channel.ping()
            if message is not None:
                asked = False
                if message["type"] == "message":
                    self._on_message(message["data"])
            elif asked:
                raise RedisTimeoutError("it is silent")
            else:
                asked = True

    def _on_message(self, data: bytes) -> None:
        request_id = data[1:].decode()
        if data[:1] == b"c":
            self.asked.put_nowait(request_id)
        else:
            self.signals.notify(request_id)

    async def notify(self, kind: bytes, request_id: str) -> None:
        """Tell all gateways: `w` of news in a log, `c` that somebody wants a request cancelled. Raises RedisError."""
        await self._redis.publish(self.name, kind + request_id.encode())

    async def aclose(self) -> None:
        """Stop listening and wake all readers."""
        if self._listener is not None:
            await cancel_and_wait(self._listener)
        self.signals.notify_all()
