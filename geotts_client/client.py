"""An asynchronous client of the service. It yields events as they come, or returns the run at the end.

    async with Client("http://127.0.0.1:8000") as client:
        run = await client.locate(Path("photo.jpg"), LocateOptions(depth="deep"))
        async with aclosing(client.stream(photo_bytes)) as events:
            async for event in events:
                ...

If the connection is lost, the client connects again and asks for the events that it has not seen; none is missing and
none comes twice. The server keeps the request running for `resume_s` seconds meanwhile. If it is not known whether a
request arrived, the client sends it again under the same idempotency key, so it runs only once. Closing a stream early
cancels the request on the server. `geotts_client.sync_client` has the same calls without async.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from typing import Self, TypeVar

import httpx

from geotts_client.check_options import CheckOptions, Statement, checking
from geotts_client.continue_options import ContinueOptions
from geotts_client.errors import DeadlineExceeded, GeoTTSError, Overloaded
from geotts_client.events import Event
from geotts_client.form_fields import AnyOptions
from geotts_client.options import LocateOptions
from geotts_client.pictures import Photos, bytes_of
from geotts_client.replies import Accepted202, Cancelled, RunStatus
from geotts_client.reply_errors import error_of, is_of_a_proxy, refusal
from geotts_client.sender import CONNECT_S, QUIET_S, SSE, TOO_LONG, Sender
from geotts_client.sse import parse_sse
from geotts_client.trajectory import Run, fold

_log = logging.getLogger("geotts.client")
CANCEL_S = 3.0
_FIRST_REPLY_PATIENCE_S = 2.0  # how long a request is sent again that has never been answered
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
T = TypeVar("T")


class Client:
    """Asynchronous client.

    Args:
        url: the address of the service. Several addresses of one service are separated by commas: if one is lost, the
            next is used.
        api_key: sent as a bearer token. None for a service without keys.
        timeout_s: the limit for each call, in seconds; for a stream, until its last event. None for no limit.
        resume_s: how long to try to read on after a lost connection, in seconds; with 0 a stream is never resumed.
        transport: what sends the requests, instead of httpx's own transport.

    Raises:
        ConfigError: `api_key` has characters that no key has.
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
        self._sender = Sender(url, api_key=api_key, timeout_s=timeout_s, transport=transport)
        self._resume_s = resume_s
        self._open_streams: set[_ResumedRequest] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel the requests that are still being read, and close the connections."""
        try:
            await asyncio.gather(*(stream.stop() for stream in tuple(self._open_streams)))
        finally:
            await self._sender.http.aclose()

    def stream(self, photos: Photos, options: LocateOptions | None = None) -> AsyncGenerator[Event, None]:
        """Send a request and read its events until it has ended. Closing the iterator early cancels the request.

        Args:
            photos: one photo, or up to 8 of one place or one walk: the bytes of a picture file, or a Path.
            options: the service's defaults if None. `CheckOptions` ask for a check of a claim.

        Yields:
            The events in order, each once; the last has the type `done`. A request that fails on the service raises
            nothing here: it has an event of the type `error`.

        Raises:
            RequestError: the request was refused (4xx); the message says why.
            Overloaded: the service is busy; try again after `retry_after_s` seconds.
            ServerUnreachable: no service answers at the address, or the connection was lost for longer than `resume_s`.
            DeadlineExceeded: `timeout_s` has passed.
            TypeError, OSError: a photo is neither bytes nor a Path, or cannot be read.
        """
        options = options or LocateOptions()
        return self._owned_events(_path_of(options), photos, options)

    async def locate(self, photos: Photos, options: LocateOptions | None = None) -> Run:
        """Send a request and wait for its end.

        Args:
            photos, options: as in `stream`. If the call is cancelled, so is the request.

        Returns:
            The run. It has an answer unless the request was cancelled.

        Raises:
            RolloutsFailed: no rollout could work. UpstreamRefused: the endpoint of the model refuses.
            GeoTTSError: another error ended the request; also everything that `stream` raises.
        """
        return await _fold_stream(self.stream(photos, options))

    def stream_continued(
        self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()
    ) -> AsyncGenerator[Event, None]:
        """Send a new request that continues an earlier one, and read its events. Closing the iterator early cancels it.

        Args:
            request_id: the earlier request.
            addition: what is known by now, or ruled out. If None, the earlier answer is ruled out.
            photos: further photos of the same place, or none.

        Yields:
            The events of the new request, as `stream` yields them.

        Raises:
            NotFound: there is no such request, or it was erased.
            RequestError: the earlier request has not ended, or its photo is not kept any more. Then send the photo in
                `photos`.
            GeoTTSError, TypeError, OSError: also everything that `stream` raises.
        """
        return self._owned_events(f"locate/{request_id}/continue", photos, addition or ContinueOptions())

    async def continue_(self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()) -> Run:
        """Continue an earlier request: its answer is wrong, or you know more now, or you have further photos.

        Args:
            request_id, addition, photos: as in `stream_continued`.

        Returns:
            The run of the new request; `answer.changed` says how the answer changed.

        Raises:
            GeoTTSError: everything that `stream_continued` and `locate` raise.
        """
        return await _fold_stream(self.stream_continued(request_id, addition, photos))

    async def check(
        self, photos: Photos, claim: Statement | Sequence[Statement], options: LocateOptions | None = None
    ) -> Run:
        """Check whether the photos were taken where somebody says: a place by name, an area, or 2 to 8 of them to
        compare. `stream` and `submit` do the same with `CheckOptions`.

        Args:
            photos: as in `stream`.
            claim: a name (`"Kharkiv"`), countries (`"UA"`), `"lat,lon,km"`, `"bbox:south,west,north,east"`, or an area.
            options: further options of the request.

        Returns:
            The run; `answer.check` has the result of the check.

        Raises:
            RequestError: the claim names no place that the service knows.
            pydantic.ValidationError: the claim is empty, or has more than 8 places.
            GeoTTSError: what else ended the request, as `locate`.
        """
        return await self.locate(photos, checking(claim, options))

    async def submit(self, photos: Photos, options: LocateOptions | None = None, *, key: str | None = None) -> str:
        """Start a request that runs without a reader.

        Args:
            photos: as in `stream`.
            options: as in `stream`.
            key: an idempotency key of 1 to 200 visible characters. If the same request is sent again with it, the
                service starts no second one and returns the id of the first.

        Returns:
            The id of the request, for `events`, `status` and `cancel`.

        Raises:
            GeoTTSError: what `stream` raises before its first event.
        """
        headers = {"Prefer": "respond-async", **({"Idempotency-Key": key} if key else {})}
        options = options or LocateOptions()
        post = self._sender.post(_path_of(options), await bytes_of(photos), options, headers)
        reply = await self._sender.send(post)
        return Accepted202.model_validate_json(reply.content, extra="ignore").request_id

    async def events(self, request_id: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Read the events of a request that was started before. Closing the iterator does not cancel the request.

        Args:
            request_id: the request.
            after: the `seq` of the last event that you have; 0 for all events.

        Yields:
            The events after `after`, in order, each once; the last has the type `done`. None if nothing follows
            `after`.

        Raises:
            GeoTTSError: there is no such request (NotFound), or the connection failed, as in `stream`.
        """
        request = self._sender.events_after(request_id, after)
        resumed = _ResumedRequest(self, request, request_id=request_id, after=after, owned=False)
        async with aclosing(resumed.events()) as events:
            async for event in events:
                yield event

    async def status(self, request_id: str, *, wait_s: float = 0.0) -> RunStatus:
        """Ask for the state of a request.

        Args:
            request_id: the request.
            wait_s: how long to wait for its end, in seconds; it is rounded, and the service waits at most 60 s.

        Returns:
            The state at the time of the reply: `running` if the request takes longer than `wait_s`.

        Raises:
            NotFound: there is no such request, or it was erased.
            GeoTTSError: the service refuses or cannot be reached, or `timeout_s` has passed.
        """
        headers = {"Prefer": f"wait={round(wait_s)}"} if wait_s else {}
        quiet = httpx.Timeout(self._sender.timeout_s, connect=CONNECT_S, read=QUIET_S + wait_s)
        reply = await self._sender.send(self._sender.build("GET", request_id, headers=headers, timeout=quiet))
        return RunStatus.model_validate_json(reply.content, extra="ignore")

    async def cancel(self, request_id: str, *, erase: bool = False) -> Cancelled:
        """Stop a request, and wait until it has stopped.

        Args:
            request_id: the request; one that has ended stays as it is, unless it is erased.
            erase: whether all its data are erased too: photos, events, files and results of tools.

        Returns:
            Whether the request was running, and whether its data were erased.

        Raises:
            NotFound: there is no such request, or it was erased.
            GeoTTSError: as in `status`.
        """
        params = {"erase": "true"} if erase else {}
        reply = await self._sender.send(self._sender.build("DELETE", request_id, params=params))
        return Cancelled.model_validate_json(reply.content, extra="ignore")

    async def file(self, request_id: str, sha256: str) -> bytes:
        """Fetch a picture that an event names: a photo without its metadata, a crop or a map.

        Args:
            request_id: the request that the event is of.
            sha256: the hash of the picture, as 64 hexadecimal digits.

        Returns:
            The bytes of the picture's file.

        Raises:
            NotFound: the request has no such picture, or was erased.
            GeoTTSError: as in `status`.
        """
        return (await self._sender.send(self._sender.build("GET", request_id, f"/files/{sha256}"))).content

    async def _owned_events(self, path: str, photos: Photos, options: AnyOptions) -> AsyncGenerator[Event, None]:
        """Events of a request that ends when its reader leaves."""
        resumable = options.model_copy(update={"resume_grace_s": max(options.resume_grace_s, self._resume_s)})
        headers = {**SSE, "Idempotency-Key": secrets.token_hex(16)}
        post = self._sender.post(path, await bytes_of(photos), resumable, headers)
        async with aclosing(_ResumedRequest(self, post).events()) as events:
            async for event in events:
                yield event


class _ResumedRequest:
    """One request, read over as many connections as needed. If it is `owned`, it is cancelled when its reader
    leaves.
    """

    def __init__(
        self, client: Client, request: httpx.Request, *, request_id: str = "", after: int = 0, owned: bool = True
    ) -> None:
        self._client = client
        self._request = request
        self._is_owned = owned
        self._now = asyncio.get_running_loop().time
        self._sender = client._sender
        self._deadline = None if self._sender.timeout_s is None else self._now() + self._sender.timeout_s
        self._id = request_id
        self._last_seq = after
        self._has_reply = False  # the server has this request, for all we know
        self._is_done = False
        self._stopped = False
        self._lost_at: float | None = None
        self._pause_s = _FIRST_PAUSE_S

    async def events(self) -> AsyncGenerator[Event, None]:
        self._client._open_streams.add(self)
        try:
            while not self._is_done:
                try:
                    async with aclosing(self._connection_events()) as events:
                        async for event in events:
                            self._lost_at = None
                            self._pause_s = _FIRST_PAUSE_S
                            yield event
                except (httpx.HTTPError, Overloaded) as error:
                    await self._pause_after(error)
        finally:
            self._client._open_streams.discard(self)
            await self.stop()

    async def stop(self) -> None:
        """Cancel the request on the server if it is ours and still runs. Twice is fine."""
        if not self._is_owned or not self._id or self._is_done or self._stopped:
            return
        self._stopped = True
        try:
            async with asyncio.timeout(CANCEL_S):
                await self._sender.reply_to(self._sender.build("DELETE", self._id))
        except (GeoTTSError, TimeoutError) as error:
            _log.info("the request could not be cancelled: %s", error)

    async def _pause_after(self, error: httpx.HTTPError | Overloaded) -> None:
        """Wait until it is time to connect again; raises what `error` stands for when there is no use or no time."""
        busy = error if isinstance(error, Overloaded) else None
        self._lost_at = self._now() if self._lost_at is None else self._lost_at
        patience_s = self._client._resume_s if self._has_reply else min(self._client._resume_s, _FIRST_REPLY_PATIENCE_S)
        left_s = self._lost_at + patience_s - self._now()
        if self._stopped or left_s <= 0 or (busy and not self._has_reply):
            raise busy or self._sender.unreachable(error) from error
        _log.info("the stream was cut after event %d: %s", self._last_seq, type(error).__name__)
        wanted_s = max(self._pause_s, busy.retry_after_s if busy else 0.0)
        await self._await_in_time(asyncio.sleep(min(wanted_s, left_s)))
        self._pause_s = min(_LONGEST_PAUSE_S, 2 * self._pause_s)

    async def _connection_events(self) -> AsyncGenerator[Event, None]:
        """Events of one connection. Raises httpx.HTTPError when it is cut, also politely."""
        request = self._sender.events_after(self._id, self._last_seq) if self._has_reply else self._request
        response = await self._await_in_time(self._sender.http.send(request, stream=True))
        try:
            if is_of_a_proxy(response.status_code, response.headers):
                raise httpx.RemoteProtocolError(f"a proxy answered {response.status_code}")
            if not response.is_success:
                raise refusal(response.status_code, await response.aread(), response.headers)
            # Serve's proxies add an id of their own behind that of the gateway
            self._id = self._id or response.headers.get("x-request-id", "").partition(",")[0]
            self._has_reply = bool(self._id)
            self._is_done = response.status_code == 204  # nothing follows the last event we have
            async with aclosing(parse_sse(response.aiter_lines())) as events:
                while (event := await self._await_in_time(anext(events, None))) is not None:
                    self._last_seq = event.seq
                    self._is_done = event.type == "done"
                    yield event
        finally:
            await response.aclose()
        if not self._is_done:
            raise httpx.RemoteProtocolError("the stream of events broke off before the event `done`")

    async def _await_in_time(self, waiting: Awaitable[T]) -> T:
        """The time limit is around the waiting only: nothing may be yielded inside a timeout."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await waiting
        except TimeoutError:
            raise DeadlineExceeded(TOO_LONG) from None


def _path_of(options: LocateOptions) -> str:
    return "check" if isinstance(options, CheckOptions) else "locate"


async def _fold_stream(stream: AsyncGenerator[Event, None]) -> Run:
    """Read a whole stream and return its run. Raises the error that ended the request."""
    async with aclosing(stream) as events:
        run = fold([event async for event in events])
    if run.failure is not None:
        raise error_of(run.failure)
    return run
