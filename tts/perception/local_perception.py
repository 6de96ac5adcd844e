"""Perception in this process: each photo (or box of it) is read once, on as many threads as pay off."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.errors import ReaderFailed, boundary
from tts.latest_entries import LatestEntries
from tts.perception.sign_reader import SignReader

_MAX_CACHED = 256
_MAX_THREADS = 2  # each further one holds its own recognisers: 200 to 400 MB
_Key = tuple[str, Box | None, str]


class LocalPerception:
    """The `Perception` port over `SignReader`. Simultaneous calls for the same thing share one reading.

    A reader serves one thread. The first is made here; a second one only once two readings are wanted at a time.
    """

    def __init__(self, make_reader: Callable[[], SignReader] = SignReader, *, threads: int | None = None) -> None:
        self._make_reader = make_reader
        self._spare_readers: list[SignReader] = [make_reader()]
        self._thread_local = threading.local()
        self._thread_count = ThreadPoolExecutor(threads or _thread_count(), thread_name_prefix="perception")
        self._readings: LatestEntries[_Key, asyncio.Future[Reading]] = LatestEntries(_MAX_CACHED)

    async def read(self, photo: Photo, box: Box | None, context: RequestContext, language: str = "") -> Reading:
        """A reading that is kept or under way is shared, and a caller that is cancelled does not stop it."""
        key = (photo.sha256, box, language)
        if (known := self._readings.get(key)) is None or known.cancelled() or (known.done() and known.exception()):
            known = asyncio.get_running_loop().run_in_executor(
                self._thread_count, self._read_in_thread, photo, box, language
            )
        self._readings[key] = known
        return await asyncio.shield(known)

    def _read_in_thread(self, photo: Photo, box: Box | None, language: str) -> Reading:
        """In a thread of the pool, with the reader of that thread."""
        with boundary(ReaderFailed, "reading the text in the photo (what the reader needs: geotts doctor)"):
            reader: SignReader | None = getattr(self._thread_local, "reader", None)
            if reader is None:
                try:
                    reader = self._spare_readers.pop()
                except IndexError:
                    reader = self._make_reader()
                self._thread_local.reader = reader
            return reader.read(photo, box, language)

    def close(self) -> None:
        """Cancel readings that have not begun; returns at once, those that have begun run to their end."""
        self._thread_count.shutdown(wait=False, cancel_futures=True)


def _thread_count() -> int:
    """Cores this process may use, at most two."""
    return min(_MAX_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
