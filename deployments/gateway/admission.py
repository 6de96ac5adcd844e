"""Admission: limits the requests in flight and the photos that are decoded at once. A refused request gets
`Retry-After`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial

from deployments.config import GatewayConfig
from deployments.gateway.auth import Caller, TooManyRequests
from deployments.gateway.photos.decoding_process import PhotoProcess
from tts.aio import Limiter, Milestone, Turnstile
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import OpenedPhoto, load_photo, may_be_small
from tts.errors import Overloaded

_INITIAL_WORK_S = 4.0
_MAX_RETRY_AFTER_S = 30.0
_HEAD_START_S = 0.02  # the next photo waits no longer than that for the rollouts of the one before
_MIN_CROWD_PHOTOS = 3  # that wait already


class Admission:
    """Counts requests from the first byte of their body until their work has ended. Without `process` every small photo
    is decoded on the loop.
    """

    def __init__(self, config: GatewayConfig, process: PhotoProcess | None = None) -> None:
        self._config = config
        self._photo_process = process
        self._decoding_limiter = Limiter(config.max_decoding, max_queued=config.max_in_flight * 8)
        # of their own: in the threads that everything shares, photos would wait for what is none
        self._decoding_threads = ThreadPoolExecutor(config.max_decoding, thread_name_prefix="decode")
        self._reading_by_caller: Counter[str] = Counter()
        self._fetch_limiters: dict[str, Limiter] = {}
        self._small_photo_turnstile = Turnstile(longest_s=_HEAD_START_S)
        self._mean_work_s = _INITIAL_WORK_S
        self.reading = 0
        self.working = 0

    @property
    def in_flight(self) -> int:
        """Requests that are being read or at work."""
        return self.reading + self.working

    @contextmanager
    def reading_slot(self, caller: Caller) -> Iterator[None]:
        """Around reading a request.

        Raises:
            Overloaded: there is no room.
            TooManyRequests: the caller sends as many at once as it may have at work, or half of all that are taken.
        """
        if self.in_flight >= self._config.max_in_flight:
            # by the time the next of them is expected to end
            wait = self._mean_work_s / max(1, self.in_flight)
            raise Overloaded(
                f"the service is full: {self.in_flight} requests are in flight",
                retry_after_s=min(_MAX_RETRY_AFTER_S, max(1.0, wait)),
            )
        most = caller.max_concurrent or (max(1, self._config.max_in_flight // 2) if caller.name else None)
        if most is not None and self._reading_by_caller[caller.name] >= most:
            raise TooManyRequests(
                f"the service already reads {most} requests of this key, which is its limit", retry_after_s=2.0
            )
        self.reading += 1
        self._reading_by_caller[caller.name] += 1
        try:
            yield
        finally:
            self.reading -= 1
            self._reading_by_caller[caller.name] -= 1
            if not self._reading_by_caller[caller.name]:
                del self._reading_by_caller[caller.name]

    @asynccontextmanager
    async def fetch_slot(self, caller: Caller) -> AsyncIterator[None]:
        """Around getting one photo from a URL; waits while the caller's other requests get `max_fetches`."""
        limiter = self._fetch_limiters.setdefault(
            caller.name, Limiter(self._config.max_fetches, max_queued=self._config.max_in_flight)
        )
        try:
            async with limiter.slot():
                yield
        finally:
            if not limiter.running and not limiter.queued:
                self._fetch_limiters.pop(caller.name, None)

    def count_start(self) -> None:
        """Count a request as at work until `count_end` is called for it."""
        self.working += 1

    def count_end(self, seconds: float) -> None:
        """Count the end of a request's work. `seconds` it took change the mean behind `Overloaded.retry_after_s`."""
        self.working -= 1
        self._mean_work_s += 0.1 * (seconds - self._mean_work_s)

    async def photos(self, raw_photos: Sequence[bytes], rollouts_started: Milestone | None = None) -> tuple[Photo, ...]:
        """Decode and clean. Raises PhotoError.

        `rollouts_started`: of the request with these photos. Small photos of other requests wait for it, a short time.
        """
        milestone = rollouts_started or Milestone()
        try:
            return tuple([await self._decode_photo(raw, milestone) for raw in raw_photos])
        finally:
            if rollouts_started is None:
                milestone.reach()

    async def _decode_photo(self, raw: bytes, rollouts_started: Milestone) -> Photo:
        """A few small photos are decoded on the loop, which is quickest for them (ADR 0014). Those of a crowd are
        decoded in the process, while the loop works for those before (ADR 0015). Other photos are decoded in a thread.
        """
        if not may_be_small(raw):
            return await self._decode_in_thread(partial(load_photo, raw, self._config.photo))
        crowded = self._small_photo_turnstile.waiting >= _MIN_CROWD_PHOTOS
        if crowded and self._photo_process is not None and self._photo_process.ready():
            photo = await self._photo_process.clean(raw)
            await self._small_photo_turnstile.enter(rollouts_started)
            return photo or await self._decode_in_thread(partial(load_photo, raw, self._config.photo))
        await self._small_photo_turnstile.enter(rollouts_started)
        opened = OpenedPhoto(raw, self._config.photo)
        return opened.clean() if opened.is_small else await self._decode_in_thread(opened.clean)

    async def _decode_in_thread(self, clean: Callable[[], Photo]) -> Photo:
        async with self._decoding_limiter.slot():
            return await asyncio.get_running_loop().run_in_executor(self._decoding_threads, clean)
