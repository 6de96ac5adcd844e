"""Clients that keep asking a service while it comes and goes: what each of them got, and under which key."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import Counter, defaultdict
from typing import Self

import httpx

from geotts_client import Client, GeoTTSError, LocateOptions
from geotts_client.errors import Overloaded, ServerUnreachable
from support.basics import sign_bytes

_PHOTO = sign_bytes("Rue de Rivoli")
_OPTIONS = LocateOptions(n_parallel=1, depth="deep")
_TIMEOUT_S = 150.0  # until a request has its answer or its error
_PAUSE_S = 0.2


class AskingClients:
    """Every second one reads streams, which the client resumes; the others submit under a key, and again until it is
    answered. `errors` are the codes of those that ended without an answer, `requests_of_key` the ids that each
    Idempotency-Key got.
    """

    def __init__(self, url: str, number: int) -> None:
        self._url = url
        self._n_clients = number
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run_thread)
        self._failure: BaseException | None = None
        self.answers: Counter[int] = Counter()
        self.errors: set[str] = set()
        self.requests_of_key: dict[str, set[str]] = defaultdict(set)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let each end what it asked. Raises what is neither an answer nor a declared error."""
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def wait_for_one_more_answer_each(self) -> None:
        before = dict(self.answers)
        give_up = time.monotonic() + _TIMEOUT_S
        while any(self.answers[number] == before.get(number, 0) for number in range(self._n_clients)):
            assert self._thread.is_alive(), self._failure
            assert time.monotonic() < give_up, (before, self.answers, self.errors)
            time.sleep(0.05)

    def _run_thread(self) -> None:
        try:
            asyncio.run(self._run_all_clients())
        except BaseException as error:  # noqa: BLE001  raised again by `stop`
            self._failure = error

    async def _run_all_clients(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self._n_clients):
                group.create_task(self._keep_asking(number))

    async def _keep_asking(self, number: int) -> None:
        ask = self._read_stream if number % 2 else self._submit
        async with Client(
            self._url, resume_s=_TIMEOUT_S, transport=_RecordingTransport(self.requests_of_key)
        ) as client:
            while not self._stop.is_set():
                try:
                    async with asyncio.timeout(_TIMEOUT_S):
                        await ask(client)
                    self.answers[number] += 1
                except GeoTTSError as error:
                    self.errors.add(error.code)
                    await asyncio.sleep(_PAUSE_S)

    async def _read_stream(self, client: Client) -> None:
        run = await client.locate(_PHOTO, _OPTIONS)
        assert run.answer is not None, run.stop_reason

    async def _submit(self, client: Client) -> None:
        key, status = secrets.token_hex(8), "running"
        while status == "running":
            try:
                found = await client.status(await client.submit(_PHOTO, _OPTIONS, key=key), wait_s=10)
            except (ServerUnreachable, Overloaded) as error:
                self.errors.add(error.code)
                await asyncio.sleep(_PAUSE_S)
                continue
            status = found.status
        if found.problem is not None:
            raise _declared_error(found.problem.type.rpartition(":")[2], found.problem.detail)
        assert found.answer is not None, found


class _RecordingTransport(httpx.AsyncBaseTransport):
    """Notes which request a key was answered with."""

    def __init__(self, requests_of_key: dict[str, set[str]]) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._requests_of_key = requests_of_key

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        reply = await self._inner.handle_async_request(request)
        key = request.headers.get("idempotency-key")
        if key and reply.is_success:
            self._requests_of_key[key].add(reply.headers["x-request-id"])
        return reply

    async def aclose(self) -> None:
        await self._inner.aclose()


def _declared_error(code: str, detail: str) -> GeoTTSError:
    error = GeoTTSError(detail)
    error.code = code
    return error
