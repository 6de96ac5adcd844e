"""Perception in this process: one worker thread, and each photo (or box of it) is read once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.perception.reader import SignReader

_KEPT = 256
_Key = tuple[str, Box | None]


class LocalPerception:
    """The `Perception` port over `SignReader`. Simultaneous calls for the same thing share one reading."""

    def __init__(self, reader: SignReader | None = None) -> None:
        self._reader = reader or SignReader()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="perception")
        self._readings: OrderedDict[_Key, asyncio.Future[Reading]] = OrderedDict()

    async def read(self, photo: Photo, box: Box | None, context: RequestContext) -> Reading:
        key = (photo.sha256, box)
        if (known := self._readings.get(key)) is None or known.cancelled() or (known.done() and known.exception()):
            loop = asyncio.get_running_loop()
            known = loop.run_in_executor(self._thread, partial(self._reader.read, photo, box))
            self._readings[key] = known
            while len(self._readings) > _KEPT:
                self._readings.popitem(last=False)
        self._readings.move_to_end(key)
        return await asyncio.shield(known)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
