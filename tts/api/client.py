"""A client of the service: events as they come, or the folded run at the end.

    async with Client("http://127.0.0.1:8000") as client:
        async for event in client.stream(photo_bytes, LocateOptions(n_parallel=4)):
            ...
        run = await client.locate(photo_bytes, LocateOptions(depth="deep"))

Leaving a stream early cancels the request on the server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Self

import httpx
import orjson
from pydantic import ValidationError

from tts.api.schema import Problem
from tts.api.sse import parse_sse
from tts.domain.events import Event
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, fold
from tts.errors import GeoTTSError, Overloaded, RequestError

_CONNECT_S = 5.0
_QUIET_S = 60.0  # the server sends heartbeats every 10 s


class ServerUnreachable(GeoTTSError):
    code = "unreachable"
    status = 503


class Client:
    """Async client. `timeout_s` bounds a whole request; `api_key` is sent as a bearer token."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        timeout = httpx.Timeout(timeout_s, connect=_CONNECT_S, read=_QUIET_S)
        self._http = httpx.AsyncClient(headers=headers, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def stream(self, photo: bytes, options: LocateOptions | None = None) -> AsyncIterator[Event]:
        """Events of one request, to its end.

        Raises:
            RequestError: the request was refused (4xx); says why.
            Overloaded: the service is busy; `retry_after_s` says when to come back.
            ServerUnreachable: there is no service at the address, or it went away.
        """
        request = self._http.stream(
            "POST",
            f"{self._url}/locate",
            files={"image": photo},
            data=form_fields(options or LocateOptions()),
            headers={"Accept": "text/event-stream"},
        )
        try:
            async with request as response:
                if response.status_code != httpx.codes.OK:
                    raise _refusal(response.status_code, await response.aread(), response.headers)
                async for event in parse_sse(response.aiter_lines()):
                    yield event
        except httpx.HTTPError as error:
            raise ServerUnreachable(f"{self._url} did not answer: {error or type(error).__name__}") from error

    async def locate(self, photo: bytes, options: LocateOptions | None = None) -> Run:
        """The whole request folded. Check `failure` before `answer`."""
        async with aclosing(self.stream(photo, options)) as events:  # type: ignore[type-var]
            return fold([event async for event in events])


def form_fields(options: LocateOptions) -> dict[str, str]:
    """Options as form fields; defaults are left out, structures are JSON."""
    fields: dict[str, Any] = options.model_dump(mode="json", exclude_defaults=True)
    return {
        name: value if isinstance(value, str) else orjson.dumps(value).decode()
        for name, value in fields.items()
        if value is not None
    }


def _refusal(status: int, body: bytes, headers: httpx.Headers) -> GeoTTSError:
    try:
        problem = Problem.model_validate_json(body)
        detail, errors = problem.detail, problem.errors
    except ValidationError:
        detail, errors = f"the server answered {status}", ()
    if status in (429, 503):
        return Overloaded(detail, retry_after_s=float(headers.get("retry-after", "1")))
    refusal: GeoTTSError = RequestError(detail, errors=errors) if status < 500 else GeoTTSError(detail)
    refusal.status = status
    return refusal
