"""Photos decoded in processes of their own: their pixels neither hold up the gateway's loop nor share its memory."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import orjson

from deployments.photo_worker import ANSWER, QUESTION
from tts.aio import cancel_and_wait, spawn
from tts.config import GatewayConfig
from tts.domain.photo import Photo, PhotoProblem, load_photo
from tts.errors import PhotoError

_log = logging.getLogger("geotts.photos")
_LONGEST_S = 60.0  # the largest photo that is accepted takes some 5 s
_READY_S = 60.0


class PhotoProcesses:
    """Up to `max_decoding`, and never more than there are cores. Each is started when it is first missed, and until it
    is there a thread does its work. One that dies over a photo takes nothing but that photo along.
    """

    def __init__(self, config: GatewayConfig) -> None:
        self._limits = config.photo
        self._most = min(config.max_decoding, os.cpu_count() or 1)
        self._all: set[_Child] = set()
        self._idle: list[_Child] = []
        self._starting: asyncio.Task[None] | None = None

    def at_hand(self) -> bool:
        """Whether one has nothing to do."""
        if not self._idle and self._starting is None and len(self._all) < self._most:
            self._starting = spawn(self._start(), name="start a photo process")
        return bool(self._idle)

    async def clean(self, raw: bytes) -> Photo:
        """As `load_photo`. What was begun is finished, also when nobody waits for it any more."""
        if not self.at_hand():
            return await asyncio.to_thread(load_photo, raw, self._limits)
        child = self._idle.pop()
        answer = child.clean(raw)
        answer.add_done_callback(lambda _: self._idle.append(child) if child in self._all else None)
        return await asyncio.shield(answer)

    async def aclose(self) -> None:
        self._most = 0
        if self._starting is not None:
            await cancel_and_wait(self._starting)
        for child in tuple(self._all):
            await child.ended()

    async def _start(self) -> None:
        try:
            child = await _Child.started(self._limits.model_dump_json(), self._lost)
        except (OSError, TimeoutError) as error:
            _log.error("no process for photos can be started, threads decode them: %s", type(error).__name__)
            self._most = 0
        else:
            self._all.add(child)
            self._idle.append(child)
        finally:
            self._starting = None

    def _lost(self, child: _Child) -> None:
        self._all.discard(child)
        if child in self._idle:
            self._idle.remove(child)


class _Child(asyncio.Protocol):
    """One process, which has at most one photo at a time."""

    def __init__(self, process: subprocess.Popen[bytes], lost: Callable[[_Child], None]) -> None:
        self._process, self._lost = process, lost
        self._loop = asyncio.get_running_loop()
        self._wire: asyncio.Transport
        self._ready = self._loop.create_future()
        self._over = asyncio.Event()
        self._answer: asyncio.Future[Photo] | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._read = bytearray()

    @classmethod
    async def started(cls, limits: str, lost: Callable[[_Child], None]) -> _Child:
        """Raises OSError or TimeoutError."""
        process, ours = _launched(limits)
        child = cls(process, lost)
        ready = False
        try:
            async with asyncio.timeout(_READY_S):
                await child._loop.create_connection(lambda: child, sock=ours)
                await child._ready
            ready = True
        finally:
            if not ready:
                await child.ended()
        return child

    def clean(self, raw: bytes) -> asyncio.Future[Photo]:
        self._answer = self._loop.create_future()
        self._limit = self._loop.call_later(_LONGEST_S, self._process.kill)
        self._wire.writelines((QUESTION.pack(len(raw)), raw))
        return self._answer

    async def ended(self) -> None:
        self._ready.cancel()
        self._process.kill()
        await self._over.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._wire = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        if len(self._read) < ANSWER.size:
            return
        told, copied = ANSWER.unpack_from(self._read)
        start = ANSWER.size + told
        if len(self._read) < start + copied:
            return
        said = orjson.loads(self._read[ANSWER.size : start])
        copy = bytes(self._read[start : start + copied])
        self._read.clear()
        if self._answer is None:
            self._ready.set_result(None)
        elif copy:
            self._settle(Photo(data=copy, **said))
        else:
            self._settle(PhotoError.because(said["reason"], said["detail"], said["status"]))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self)
        self._process.kill()
        code = self._process.wait()  # it is gone already, or goes at once
        self._over.set()
        if self._answer is not None and not self._answer.done():
            _log.error("a process died over a photo (exit code %d)", code)
            self._settle(PhotoError.because(PhotoProblem.DAMAGED, "the photo is damaged: decoding it failed"))
        if not self._ready.done():
            self._ready.set_exception(ConnectionError("it ended before it was ready"))

    def _settle(self, outcome: Photo | PhotoError) -> None:
        assert self._answer is not None
        if self._limit is not None:
            self._limit.cancel()
        if self._answer.done():
            return
        if isinstance(outcome, Photo):
            self._answer.set_result(outcome)
        else:
            self._answer.set_exception(outcome)


def _launched(limits: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process, and our end of its wire."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "deployments.photo_worker", str(theirs.fileno()), limits]
        # it decodes what strangers send: none of the keys in our environment are any of its business
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        try:
            process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        except OSError:
            ours.close()
            raise
    return process, ours
