"""Resolves host names in separate threads.

The system's resolver cannot be interrupted: a name whose server does not answer blocks its thread for half a minute. In
the threads that everything else shares, a few such names would stop the whole process.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from tts.errors import FetchError, FetchErrorKind

_MAX_THREADS = 64  # made as they are needed
_MAX_WAITING = 256


class NameLookups:
    """At most `threads` at once; further ones wait, and beyond `most_waiting` they are refused."""

    def __init__(self, threads: int = _MAX_THREADS, most_waiting: int = _MAX_WAITING) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="names")
        self._max_lookups = threads + most_waiting
        self._n_lookups = 0

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Every address of `host`, in the system's order of preference.

        Raises:
            OSError: there is none.
            FetchError: too many names are being looked up.
        """
        if self._n_lookups >= self._max_lookups:
            raise FetchError("too many host names are being looked up", kind=FetchErrorKind.TIMEOUT)
        loop = asyncio.get_running_loop()
        looking = self._threads.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        self._n_lookups += 1
        looking.add_done_callback(lambda _: self._count_end())
        found = await asyncio.wrap_future(looking, loop=loop)
        return list(dict.fromkeys(str(item[4][0]) for item in found))

    def _count_end(self) -> None:
        self._n_lookups -= 1


@lru_cache(maxsize=1)
def _shared_lookups() -> NameLookups:
    return NameLookups()


async def resolve_with_system(host: str, port: int) -> Sequence[str]:
    """As `NameLookups.addresses`, with the threads that this process has for it."""
    return await _shared_lookups().addresses(host, port)
