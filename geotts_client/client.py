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
from geotts_client.errors import ConfigError, DeadlineExceeded, GeoTTSError, Overloaded, ServerUnreachable
from geotts_client.events import Event
from geotts_client.failover import Failover
from geotts_client.form_fields import AnyOptions, form_fields
from geotts_client.options import LocateOptions
from geotts_client.pictures import Photos, bytes_of
from geotts_client.replies import Accepted202, Cancelled, RunStatus
from geotts_client.reply_errors import error_of, is_of_a_proxy, refusal
from geotts_client.sse import parse_sse
from geotts_client.trajectory import Run, fold

_log = logging.getLogger("geotts.client")
_CONNECT_S = 5.0
_QUIET_S = 12.0  # the server sends heartbeats every 5 s; one that is cut off says nothing
CANCEL_S = 3.0
_ARRIVE_S = 2.0  # how long a request is sent again that has never been answered
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
_TOO_LONG = "the request took longer than the client's timeout_s"
_SSE = {"Accept": "text/event-stream"}
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
        urls = [one.strip().rstrip("/") for one in url.split(",")]
        self._url = urls[0]
        if len(urls) > 1:
            transport = Failover(urls, transport)
        self._timeout_s = timeout_s
        self._resume_s = resume_s
        self._open_streams: set[_Resumed] = set()
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigError("the API key has characters that no key has; was it copied whole?")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        timeout = httpx.Timeout(timeout_s, connect=_CONNECT_S, read=_QUIET_S)
        self._http = httpx.AsyncClient(headers=headers, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel the requests that are still being read, and close the connections."""
        try:
            await asyncio.gather(*(stream.stop() for stream in tuple(self._open_streams)))
        finally:
            await self._http.aclose()

    async def stream(self, photos: Photos, options: LocateOptions | None = None) -> AsyncGenerator[Event, None]:
        """Send a request and yield its events until it has ended. Closing the iterator early cancels the request.

        Args:
            photos: one photo, or up to 8 of one place or one walk: the bytes of a picture file, or a Path.
            options: the service's defaults if None. `CheckOptions` ask for a check of a claim.

        Raises:
            RequestError: the request was refused (4xx); the message says why.
            Overloaded: the service is busy; try again after `retry_after_s` seconds.
            ServerUnreachable: no service answers at the address, or the connection was lost for longer than `resume_s`.
            DeadlineExceeded: `timeout_s` has passed.
            TypeError, OSError: a photo is neither bytes nor a Path, or cannot be read.
        """
        options = options or LocateOptions()
        path = "check" if isinstance(options, CheckOptions) else "locate"
        async with aclosing(self._owned(path, await bytes_of(photos), options)) as events:
            async for event in events:
                yield event

    async def locate(self, photos: Photos, options: LocateOptions | None = None) -> Run:
        """Send a request, wait for its end and return its run. The run has an answer unless the request was cancelled.

        Args:
            photos, options: as in `stream`. If the call is cancelled, so is the request.

        Raises:
            RolloutsFailed: no rollout could work. UpstreamRefused: the endpoint of the model refuses.
            GeoTTSError: another error ended the request; also everything that `stream` raises.
        """
        return await _folded(self.stream(photos, options))

    async def stream_continued(
        self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()
    ) -> AsyncGenerator[Event, None]:
        """Send a new request that continues an earlier one, and yield its events as `stream` does.

        Args:
            request_id: the earlier request.
            addition: what is known by now, or ruled out. If None, the earlier answer is ruled out.
            photos: further photos of the same place, or none.

        Raises:
            NotFound: there is no such request, or it was erased.
            RequestError: the earlier request has not ended, or its photo is not kept any more. Then send the photo in
                `photos`.
        """
        path = f"locate/{request_id}/continue"
        async with aclosing(self._owned(path, await bytes_of(photos), addition or ContinueOptions())) as events:
            async for event in events:
                yield event

    async def continue_(self, request_id: str, addition: ContinueOptions | None = None, photos: Photos = ()) -> Run:
        """Continue an earlier request: its answer is wrong, or you know more now, or you have further photos.
        `answer.changed` says how the answer changed. Raises everything that `stream_continued` and `locate` raise.

        Args:
            request_id, addition, photos: as in `stream_continued`.
        """
        return await _folded(self.stream_continued(request_id, addition, photos))

    async def check(
        self, photos: Photos, claim: Statement | Sequence[Statement], options: LocateOptions | None = None
    ) -> Run:
        """Check whether the photos were taken where somebody says: a place by name, an area, or 2 to 8 of them to
        compare. The result is `answer.check`. `stream` and `submit` do the same with `CheckOptions`.

        Args:
            photos: as in `stream`.
            claim: a name (`"Kharkiv"`), countries (`"UA"`), `"lat,lon,km"`, `"bbox:south,west,north,east"`, or an area.
            options: further options of the request.

        Raises:
            RequestError: the claim names no place that the service knows.
            pydantic.ValidationError: the claim is empty, or has more than 8 places.
            GeoTTSError: what else ended the request, as `locate`.
        """
        return await self.locate(photos, checking(claim, options))

    async def submit(self, photos: Photos, options: LocateOptions | None = None, *, key: str | None = None) -> str:
        """Start a request that runs without a reader; return its id.

        Args:
            photos: as in `stream`.
            options: as in `stream`.
            key: an idempotency key of 1 to 200 visible characters. If the same request is sent again with it, the
                service starts no second one and returns the id of the first.

        Raises:
            GeoTTSError: what `stream` raises before its first event.
        """
        headers = {"Prefer": "respond-async", **({"Idempotency-Key": key} if key else {})}
        options = options or LocateOptions()
        path = "check" if isinstance(options, CheckOptions) else "locate"
        reply = await self._send(self._post(path, await bytes_of(photos), options, headers))
        return Accepted202.model_validate_json(reply.content, extra="ignore").request_id

    async def events(self, request_id: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events of a request that was started before. Closing the iterator does not cancel the request.

        Args:
            request_id: the request.
            after: the `seq` of the last event that you have; 0 for all events.

        Raises:
            GeoTTSError: there is no such request (NotFound), or the connection failed, as in `stream`.
        """
        request = self._get_events(request_id, after)
        resumed = _Resumed(self, request, request_id=request_id, after=after, owned=False)
        async with aclosing(resumed.events()) as events:
            async for event in events:
                yield event

    async def status(self, request_id: str, *, wait_s: float = 0.0) -> RunStatus:
        """The state of a request. Raises NotFound if there is no such request, or it was erased.

        Args:
            request_id: the request.
            wait_s: how long to wait for its end, in seconds; it is rounded, and the service waits at most 60 s.
        """
        headers = {"Prefer": f"wait={round(wait_s)}"} if wait_s else {}
        quiet = httpx.Timeout(self._timeout_s, connect=_CONNECT_S, read=_QUIET_S + wait_s)
        request = self._http.build_request("GET", self._at(request_id), headers=headers, timeout=quiet)
        reply = await self._send(request)
        return RunStatus.model_validate_json(reply.content, extra="ignore")

    async def cancel(self, request_id: str, *, erase: bool = False) -> Cancelled:
        """Stop a request, and return when it has stopped. Raises NotFound.

        Args:
            request_id: the request; one that has ended stays as it is, unless it is erased.
            erase: whether all its data are erased too: photos, events, files and results of tools.
        """
        params = {"erase": "true"} if erase else {}
        reply = await self._send(self._http.build_request("DELETE", self._at(request_id), params=params))
        return Cancelled.model_validate_json(reply.content, extra="ignore")

    async def file(self, request_id: str, sha256: str) -> bytes:
        """The bytes of a picture that an event names: a photo without its metadata, a crop or a map. Raises NotFound.

        Args:
            request_id: the request that the event is of.
            sha256: the hash of the picture, as 64 hexadecimal digits.
        """
        return (await self._send(self._http.build_request("GET", f"{self._at(request_id)}/files/{sha256}"))).content

    async def _owned(self, path: str, photos: list[bytes], options: AnyOptions) -> AsyncGenerator[Event, None]:
        """Events of a request that ends when its reader leaves."""
        resumable = options.model_copy(update={"resume_grace_s": max(options.resume_grace_s, self._resume_s)})
        post = self._post(path, photos, resumable, {**_SSE, "Idempotency-Key": secrets.token_hex(16)})
        async with aclosing(_Resumed(self, post).events()) as events:
            async for event in events:
                yield event

    def _post(self, path: str, photos: list[bytes], options: AnyOptions, headers: dict[str, str]) -> httpx.Request:
        fields = form_fields(options)
        if not photos:  # httpx writes no multipart body without a file
            body = options.model_dump(mode="json", include=set(fields))
            return self._http.build_request("POST", f"{self._url}/{path}", json=body, headers=headers)
        files = [("image", photo) for photo in photos]
        return self._http.build_request("POST", f"{self._url}/{path}", files=files, data=fields, headers=headers)

    def _get_events(self, request_id: str, after: int) -> httpx.Request:
        headers = {**_SSE, "Last-Event-ID": str(after)}
        return self._http.build_request("GET", f"{self._at(request_id)}/events", headers=headers)

    def _at(self, request_id: str) -> str:
        return f"{self._url}/locate/{request_id}"

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._reply_to(request)
        except TimeoutError:
            raise DeadlineExceeded(_TOO_LONG) from None

    async def _reply_to(self, request: httpx.Request) -> httpx.Response:
        try:
            reply = await self._connect_and_send(request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if not reply.is_success:
            raise refusal(reply.status_code, reply.content, reply.headers)
        return reply

    async def _connect_and_send(self, request: httpx.Request) -> httpx.Response:
        """Try to connect a second time when the first attempt took too long: nothing has been sent by then.

        A machine that stood still for as long looks the same as a service that is gone.
        """
        try:
            return await self._http.send(request)
        except httpx.ConnectTimeout:
            return await self._http.send(request)

    def _unreachable(self, error: Exception) -> ServerUnreachable:
        return ServerUnreachable(f"{self._url} did not answer: {str(error) or type(error).__name__}")


class _Resumed:
    """One request, read over as many connections as needed. If it is `owned`, it is cancelled when its reader
    leaves.
    """

    def __init__(
        self, client: Client, request: httpx.Request, *, request_id: str = "", after: int = 0, owned: bool = True
    ) -> None:
        self._client = client
        self._request = request
        self._owned = owned
        self._now = asyncio.get_running_loop().time
        self._deadline = None if client._timeout_s is None else self._now() + client._timeout_s
        self._id = request_id
        self._last_seq = after
        self._answered = False  # the server has this request, for all we know
        self._done = False
        self._stopped = False
        self._lost_at: float | None = None
        self._pause_s = _FIRST_PAUSE_S

    async def events(self) -> AsyncGenerator[Event, None]:
        self._client._open_streams.add(self)
        try:
            while not self._done:
                try:
                    async with aclosing(self._connection()) as events:
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
        if self._owned and self._id and not self._done and not self._stopped:
            self._stopped = True
            await self._cancel()

    async def _pause_after(self, error: httpx.HTTPError | Overloaded) -> None:
        """Wait until it is time to connect again; raises what `error` stands for when there is no use or no time."""
        busy = error if isinstance(error, Overloaded) else None
        self._lost_at = self._now() if self._lost_at is None else self._lost_at
        patience_s = self._client._resume_s if self._answered else min(self._client._resume_s, _ARRIVE_S)
        left_s = self._lost_at + patience_s - self._now()
        if self._stopped or left_s <= 0 or (busy and not self._answered):
            raise busy or self._client._unreachable(error) from error
        _log.info("the stream was cut after event %d: %s", self._last_seq, type(error).__name__)
        wanted_s = max(self._pause_s, busy.retry_after_s if busy else 0.0)
        await self._in_time(asyncio.sleep(min(wanted_s, left_s)))
        self._pause_s = min(_LONGEST_PAUSE_S, 2 * self._pause_s)

    async def _connection(self) -> AsyncGenerator[Event, None]:
        """Events of one connection. Raises httpx.HTTPError when it is cut, also politely."""
        request = self._client._get_events(self._id, self._last_seq) if self._answered else self._request
        response = await self._in_time(self._client._http.send(request, stream=True))
        try:
            if is_of_a_proxy(response.status_code, response.headers):
                raise httpx.RemoteProtocolError(f"a proxy answered {response.status_code}")
            if not response.is_success:
                raise refusal(response.status_code, await response.aread(), response.headers)
            # Serve's proxies add an id of their own behind that of the gateway
            self._id = self._id or response.headers.get("x-request-id", "").partition(",")[0]
            self._answered = bool(self._id)
            self._done = response.status_code == 204  # nothing follows the last event we have
            async with aclosing(parse_sse(response.aiter_lines())) as events:
                while (event := await self._in_time(anext(events, None))) is not None:
                    self._last_seq = event.seq
                    self._done = event.type == "done"
                    yield event
        finally:
            await response.aclose()
        if not self._done:
            raise httpx.RemoteProtocolError("the stream of events broke off before the event `done`")

    async def _in_time(self, waiting: Awaitable[T]) -> T:
        """The time limit is around the waiting only: nothing may be yielded inside a timeout."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await waiting
        except TimeoutError:
            raise DeadlineExceeded(_TOO_LONG) from None

    async def _cancel(self) -> None:
        try:
            async with asyncio.timeout(CANCEL_S):
                client = self._client
                await client._reply_to(client._http.build_request("DELETE", client._at(self._id)))
        except (GeoTTSError, TimeoutError) as error:
            _log.info("the request could not be cancelled: %s", error)


async def _folded(stream: AsyncGenerator[Event, None]) -> Run:
    """Read a whole stream and return its run. Raises the error that ended the request."""
    async with aclosing(stream) as events:
        run = fold([event async for event in events])
    if run.failure is not None:
        raise error_of(run.failure)
    return run
