"""A client of the service that blocks: the calls of `Client`, with iterators instead of async iterators.

    with SyncClient("http://127.0.0.1:8000") as client:
        run = client.locate(Path("photo.jpg"))

One event loop in a separate thread does the work. Calls may come from any thread, but not from inside a running event
loop, which they would block.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Sequence
from types import AsyncGeneratorType
from typing import Any, Self, TypeVar

import httpx

from geotts_client.check_options import Statement
from geotts_client.client import CANCEL_S, Client
from geotts_client.continue_options import ContinueOptions
from geotts_client.events import Event
from geotts_client.options import LocateOptions
from geotts_client.pictures import Photos
from geotts_client.replies import Cancelled, RunStatus
from geotts_client.trajectory import Run

T = TypeVar("T")
_END_TIMEOUT_S = CANCEL_S + 1.0  # how long work may take to end once it is interrupted: it tells the server


class SyncClient:
    """A client that blocks. Arguments, results and errors are those of `Client`.

    Ctrl-C ends a call; a request whose events it reads is cancelled.

    Args:
        url, api_key, timeout_s, resume_s, transport: as in `Client`.

    Raises:
        ConfigError: as in `Client`.
        RuntimeError: each call after `close` raises it.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: float | None = None,
        resume_s: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="geotts client", daemon=True)
        self._thread.start()
        self._open_streams: set[AsyncGenerator[Event, None]] = set()
        self._client = Client(url, api_key=api_key, timeout_s=timeout_s, resume_s=resume_s, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancel the requests that are still being read, close the connections and stop the thread. Closing again does
        nothing.
        """
        if self._loop.is_closed():
            return
        for events in tuple(self._open_streams):
            if not _is_running(events):
                self._wait(events.aclose())
        self._wait(self._client.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def stream(self, photos: Photos, options: LocateOptions | None = None) -> Generator[Event, None, None]:
        """Send a request and read its events, as `Client.stream`. Closing the iterator early cancels the request.

        Args:
            photos: one photo, or up to 8 of one place or one walk: the bytes of a picture file, or a Path.
            options: the service's defaults if None. `CheckOptions` ask for a check of a claim.

        Yields:
            The events in order, each once; the last has the type `done`.

        Raises:
            GeoTTSError, TypeError, OSError: as in `Client.stream`.
        """
        return self._iterate(self._client.stream(photos, options))

    def locate(self, photos: Photos, options: LocateOptions | None = None) -> Run:
        """Send a request and wait for its end, as `Client.locate`.

        Args:
            photos, options: as in `stream`. If the call is interrupted, the request is cancelled.

        Returns:
            The run, as `Client.locate` returns it.

        Raises:
            GeoTTSError: as in `Client.locate`.
        """
        return self._wait(self._client.locate(photos, options))

    def check(
        self, photos: Photos, claim: Statement | Sequence[Statement], options: LocateOptions | None = None
    ) -> Run:
        """Check whether the photos were taken where somebody says, as `Client.check`.

        Args:
            photos: as in `stream`.
            claim: a name (`"Kharkiv"`), countries (`"UA"`), `"lat,lon,km"`, `"bbox:south,west,north,east"`, or an area;
                or 2 to 8 of them to compare.
            options: further options of the request.

        Returns:
            The run; `answer.check` has the result of the check.

        Raises:
            GeoTTSError, pydantic.ValidationError: as in `Client.check`.
        """
        return self._wait(self._client.check(photos, claim, options))

    def stream_continued(
        self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()
    ) -> Generator[Event, None, None]:
        """Send a request that continues an earlier one, as `Client.stream_continued`. Closing the iterator early
        cancels it.

        Args:
            request_id: the earlier request.
            addition: what is known by now, or ruled out. If None, the earlier answer is ruled out.
            photos: further photos of the same place, or none.

        Yields:
            The events of the new request, as `stream` yields them.

        Raises:
            GeoTTSError: as in `Client.stream_continued`.
        """
        return self._iterate(self._client.stream_continued(request_id, addition, photos))

    def continue_(self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()) -> Run:
        """Continue an earlier request with what you add, as `Client.continue_`.

        Args:
            request_id, addition, photos: as in `stream_continued`.

        Returns:
            The run of the new request; `answer.changed` says how the answer changed.

        Raises:
            GeoTTSError: as in `Client.continue_`.
        """
        return self._wait(self._client.continue_(request_id, addition, photos))

    def submit(self, photos: Photos, options: LocateOptions | None = None, *, key: str | None = None) -> str:
        """Start a request that runs without a reader, as `Client.submit`.

        Args:
            photos: as in `stream`.
            options: as in `stream`.
            key: an idempotency key of 1 to 200 visible characters. If the same request is sent again with it, the
                service starts no second one and returns the id of the first.

        Returns:
            The id of the request.

        Raises:
            GeoTTSError: as in `Client.submit`.
        """
        return self._wait(self._client.submit(photos, options, key=key))

    def events(self, request_id: str, *, after: int = 0) -> Generator[Event, None, None]:
        """Read the events of a request that was started before, as `Client.events`. Closing the iterator does not
        cancel it.

        Args:
            request_id: the request.
            after: the `seq` of the last event that you have; 0 for all events.

        Yields:
            The events after `after`, in order, each once; the last has the type `done`. No event if nothing follows
            `after`.

        Raises:
            GeoTTSError: as in `Client.events`.
        """
        return self._iterate(self._client.events(request_id, after=after))

    def status(self, request_id: str, *, wait_s: float = 0.0) -> RunStatus:
        """Ask for the state of a request, as `Client.status`.

        Args:
            request_id: the request.
            wait_s: how long to wait for its end, in seconds; it is rounded, and the service waits at most 60 s.

        Returns:
            The state at the time of the reply: `running` if the request takes longer than `wait_s`.

        Raises:
            NotFound: there is no such request, or it was erased.
            GeoTTSError: another error, as in `Client.status`.
        """
        return self._wait(self._client.status(request_id, wait_s=wait_s))

    def cancel(self, request_id: str, *, erase: bool = False) -> Cancelled:
        """Stop a request, as `Client.cancel`.

        Args:
            request_id: the request; one that has ended stays as it is, unless it is erased.
            erase: whether all its data are erased too: photos, events, files and results of tools.

        Returns:
            Whether the request was running, and whether its data were erased.

        Raises:
            NotFound: there is no such request, or it was erased.
            GeoTTSError: another error, as in `Client.cancel`.
        """
        return self._wait(self._client.cancel(request_id, erase=erase))

    def file(self, request_id: str, sha256: str) -> bytes:
        """Fetch a picture that an event names, as `Client.file`.

        Args:
            request_id: the request that the event is of.
            sha256: the hash of the picture, as 64 hexadecimal digits.

        Returns:
            The bytes of the picture's file, as `Client.file` returns them.

        Raises:
            NotFound: the request has no such picture, or was erased.
            GeoTTSError: another error, as in `Client.file`.
        """
        return self._wait(self._client.file(request_id, sha256))

    def _iterate(self, events: AsyncGenerator[Event, None]) -> Generator[Event, None, None]:
        self._open_streams.add(events)
        try:
            while (event := self._wait(_next_event(events))) is not None:
                yield event
        finally:
            self._open_streams.discard(events)
            if not self._loop.is_closed() and not _is_running(events):
                self._wait(events.aclose())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; interrupting the wait (Ctrl-C) cancels it and waits a few seconds for its end."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the client is closed")
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_await_and_signal(work, ended), self._loop)
        try:
            return future.result()
        finally:  # does nothing to work that has ended
            future.cancel()
            ended.wait(_END_TIMEOUT_S)


async def _await_and_signal(work: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await work
    finally:
        ended.set()


async def _next_event(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)


def _is_running(events: AsyncGenerator[Event, None]) -> bool:
    """Whether a call of another thread is inside."""
    return isinstance(events, AsyncGeneratorType) and events.ag_running
