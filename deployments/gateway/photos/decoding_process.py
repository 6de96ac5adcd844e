"""The gateway's side of the process that decodes small photos: starts it, sends it photos, and survives its loss.

The event loop of the gateway works on earlier requests meanwhile. The child runs `decode_in_child.py`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from functools import cached_property
from typing import cast

import orjson
import psutil

from deployments.gateway.photos.decode_in_child import ANSWER, QUESTION
from tts.aio import cancel_and_wait, spawn
from tts.domain.photo import Photo, PhotoLimits, PhotoProblem
from tts.errors import PhotoError

_log = logging.getLogger("geotts.photos")
_LONGEST_S = 10.0  # for one small photo, which takes some 4 ms
_READY_S = 60.0
_AT_WORK = 0.2  # share of that time on the processor from which it is the photo that takes long


class _ProcessDied(Exception):
    """Over this photo, or just before it was read: nobody can tell."""


class PhotoProcess:
    """It is started at the first use, and again after a loss. If it dies while it decodes a photo, only this photo
    fails, after a second try: the first process may have been killed while it was idle.
    """

    def __init__(self, limits: PhotoLimits) -> None:
        self._limits = limits
        self._child: _Child | None = None
        self._starting: asyncio.Task[None] | None = None
        self._wanted = True

    def ready(self) -> bool:
        """Whether it is there; it is on its way otherwise, unless none can be started."""
        there = self._child is not None and not self._child.is_lost
        if not there and self._starting is None and self._wanted:
            self._starting = spawn(self._start(), name="start the photo process")
        return there

    async def clean(self, raw: bytes) -> Photo | None:
        """As `load_small_photo`, one after the other; None also when it is not there.

        Raises:
            PhotoError: as `load_small_photo`, or decoding it ended two processes.
        """
        if self._child is None or self._child.is_lost:
            return None
        # what was begun is finished, also when nobody waits for it any more
        with suppress(_ProcessDied):
            return await asyncio.shield(self._child.clean(raw))
        if not self.ready() and self._starting is not None:
            await asyncio.wait([self._starting])
        with suppress(_ProcessDied):
            if self._child is not None and not self._child.is_lost:
                return await asyncio.shield(self._child.clean(raw))
        raise _damaged()

    async def aclose(self) -> None:
        """End the process and wait until it is gone; no other is started afterwards."""
        self._wanted = False
        if self._starting is not None:
            await cancel_and_wait(self._starting)
        if self._child is not None:
            await self._child.kill()

    async def _start(self) -> None:
        try:
            self._child = await _Child.start(self._limits)
        except OSError as error:
            _log.error("no process for photos can be started, the gateway decodes them: %s", type(error).__name__)
            self._wanted = False
        finally:
            self._starting = None


class _Child(asyncio.Protocol):
    """One process and what it was asked, in this order."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._wire: asyncio.Transport
        self._ready: asyncio.Future[Photo | None] = self._loop.create_future()
        self._answers = deque([self._ready])
        self._limit = self._loop.call_later(_READY_S, self._process.kill)
        self._read = bytearray()
        self._over = asyncio.Event()
        self._worked_before_s = 0.0
        self._too_slow = False

    @property
    def is_lost(self) -> bool:
        return self._over.is_set()

    @classmethod
    async def start(cls, limits: PhotoLimits) -> _Child:
        """Raises OSError."""
        process, ours = _launched(limits.model_dump_json())
        child = cls(process)
        ready = False
        try:
            await child._loop.create_connection(lambda: child, sock=ours)
            await asyncio.shield(child._ready)
            ready = True
        finally:
            if not ready:
                await child.kill()
        return child

    def clean(self, raw: bytes) -> asyncio.Future[Photo | None]:
        if not self._answers:
            self._watch()
        answer: asyncio.Future[Photo | None] = self._loop.create_future()
        self._answers.append(answer)
        self._wire.writelines((QUESTION.pack(len(raw)), raw))
        return answer

    async def kill(self) -> None:
        self._process.kill()
        await self._over.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast("asyncio.Transport", transport)  # uvloop's own is none by its class

    def data_received(self, data: bytes) -> None:
        self._read += data
        while len(self._read) >= ANSWER.size:
            head_bytes, copied = ANSWER.unpack_from(self._read)
            start = ANSWER.size + head_bytes
            if len(self._read) < start + copied:
                return
            fields, copy = orjson.loads(self._read[ANSWER.size : start]), bytes(self._read[start : start + copied])
            del self._read[: start + copied]
            self._limit.cancel()
            answer = self._answers.popleft()
            if copy:
                answer.set_result(Photo(data=copy, **fields))
            elif fields is None:
                answer.set_result(None)
            else:
                answer.set_exception(PhotoError.from_reason(fields["reason"], fields["detail"], fields["status"]))
            if self._answers:
                self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit.cancel()
        self._process.kill()
        code = self._process.wait()  # it is gone already, or goes at once
        self._over.set()
        for place, answer in enumerate(self._answers):
            if answer is self._ready:
                answer.set_exception(ConnectionError("it ended before it was ready"))
            elif place == 0:
                _log.error("the photo process died over a photo (exit code %d)", code)
                answer.set_exception(_damaged() if self._too_slow else _ProcessDied())
            else:
                answer.set_result(None)

    def _watch(self) -> None:
        self._worked_before_s = self._worked_s()
        self._limit = self._loop.call_later(_LONGEST_S, self._give_up)

    def _give_up(self) -> None:
        """End a process that stands still or takes too long. Only the second is the fault of its photo."""
        self._too_slow = self._worked_s() - self._worked_before_s >= _AT_WORK * _LONGEST_S
        self._process.kill()

    @cached_property
    def _measured_process(self) -> psutil.Process:
        """Made once: making it costs more than a measurement."""
        return psutil.Process(self._process.pid)

    def _worked_s(self) -> float:
        """Seconds on the processor so far; 0 when it is gone."""
        with suppress(psutil.Error):
            times = self._measured_process.cpu_times()
            return times.user + times.system
        return 0.0


def _damaged() -> PhotoError:
    return PhotoError.from_reason(PhotoProblem.DAMAGED, "the photo is damaged: decoding it failed")


def _launched(limits: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process, and our end of its wire."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "deployments.gateway.photos.decode_in_child", str(theirs.fileno()), limits]
        # it decodes what strangers send: none of the keys in our environment are any of its business
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        try:
            process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        except OSError:
            ours.close()
            raise
    return process, ours
