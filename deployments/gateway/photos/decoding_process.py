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
_MAX_DECODING_S = 10.0  # for one small photo, which takes some 4 ms
_MAX_START_S = 60.0
_MIN_CPU_SHARE = 0.2  # share of that time on the processor from which it is the photo that takes long


class _ProcessDied(Exception):
    """Over this photo, or just before it was read: nobody can tell."""


class PhotoProcess:
    """It is started at the first use, and again after a loss. If it dies while it decodes a photo, only this photo
    fails, after a second try: the first process may have been killed while it was idle.
    """

    def __init__(self, limits: PhotoLimits) -> None:
        self._limits = limits
        self._child: _Child | None = None
        self._start_task: asyncio.Task[None] | None = None
        self._may_start = True

    def ready(self) -> bool:
        """Whether it is there; it is on its way otherwise, unless none can be started."""
        is_there = self._child is not None and not self._child.is_lost
        if not is_there and self._start_task is None and self._may_start:
            self._start_task = spawn(self._start_child(), name="start the photo process")
        return is_there

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
        if not self.ready() and self._start_task is not None:
            await asyncio.wait([self._start_task])
        with suppress(_ProcessDied):
            if self._child is not None and not self._child.is_lost:
                return await asyncio.shield(self._child.clean(raw))
        raise _damaged_photo_error()

    async def aclose(self) -> None:
        """End the process and wait until it is gone; no other is started afterwards."""
        self._may_start = False
        if self._start_task is not None:
            await cancel_and_wait(self._start_task)
        if self._child is not None:
            await self._child.kill()

    async def _start_child(self) -> None:
        try:
            self._child = await _Child.start(self._limits)
        except OSError as error:
            _log.error("no process for photos can be started, the gateway decodes them: %s", type(error).__name__)
            self._may_start = False
        finally:
            self._start_task = None


class _Child(asyncio.Protocol):
    """One process and what it was asked, in this order."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._ready_answer: asyncio.Future[Photo | None] = self._loop.create_future()
        self._pending_answers = deque([self._ready_answer])
        self._kill_timer = self._loop.call_later(_MAX_START_S, self._process.kill)
        self._received_bytes = bytearray()
        self._lost_event = asyncio.Event()
        self._cpu_seconds_before = 0.0
        self._is_too_slow = False

    @property
    def is_lost(self) -> bool:
        return self._lost_event.is_set()

    @classmethod
    async def start(cls, limits: PhotoLimits) -> _Child:
        """Raises OSError."""
        process, ours = _launch_child(limits.model_dump_json())
        child = cls(process)
        ready = False
        try:
            await child._loop.create_connection(lambda: child, sock=ours)
            await asyncio.shield(child._ready_answer)
            ready = True
        finally:
            if not ready:
                await child.kill()
        return child

    def clean(self, raw: bytes) -> asyncio.Future[Photo | None]:
        if not self._pending_answers:
            self._start_timer()
        answer: asyncio.Future[Photo | None] = self._loop.create_future()
        self._pending_answers.append(answer)
        self._transport.writelines((QUESTION.pack(len(raw)), raw))
        return answer

    async def kill(self) -> None:
        self._process.kill()
        await self._lost_event.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own is none by its class

    def data_received(self, data: bytes) -> None:
        self._received_bytes += data
        while len(self._received_bytes) >= ANSWER.size:
            head_bytes, copied = ANSWER.unpack_from(self._received_bytes)
            start = ANSWER.size + head_bytes
            if len(self._received_bytes) < start + copied:
                return
            fields, copy = (
                orjson.loads(self._received_bytes[ANSWER.size : start]),
                bytes(self._received_bytes[start : start + copied]),
            )
            del self._received_bytes[: start + copied]
            self._kill_timer.cancel()
            answer = self._pending_answers.popleft()
            if copy:
                answer.set_result(Photo(data=copy, **fields))
            elif fields is None:
                answer.set_result(None)
            else:
                answer.set_exception(PhotoError.from_reason(fields["reason"], fields["detail"], fields["status"]))
            if self._pending_answers:
                self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._kill_timer.cancel()
        self._process.kill()
        code = self._process.wait()  # it is gone already, or goes at once
        self._lost_event.set()
        for place, answer in enumerate(self._pending_answers):
            if answer is self._ready_answer:
                answer.set_exception(ConnectionError("it ended before it was ready"))
            elif place == 0:
                _log.error("the photo process died over a photo (exit code %d)", code)
                answer.set_exception(_damaged_photo_error() if self._is_too_slow else _ProcessDied())
            else:
                answer.set_result(None)

    def _start_timer(self) -> None:
        self._cpu_seconds_before = self._cpu_seconds()
        self._kill_timer = self._loop.call_later(_MAX_DECODING_S, self._kill_slow_process)

    def _kill_slow_process(self) -> None:
        """End a process that stands still or takes too long. Only the second is the fault of its photo."""
        self._is_too_slow = self._cpu_seconds() - self._cpu_seconds_before >= _MIN_CPU_SHARE * _MAX_DECODING_S
        self._process.kill()

    @cached_property
    def _measured_process(self) -> psutil.Process:
        """Made once: making it costs more than a measurement."""
        return psutil.Process(self._process.pid)

    def _cpu_seconds(self) -> float:
        """Seconds on the processor so far; 0 when it is gone."""
        with suppress(psutil.Error):
            times = self._measured_process.cpu_times()
            return times.user + times.system
        return 0.0


def _damaged_photo_error() -> PhotoError:
    return PhotoError.from_reason(PhotoProblem.DAMAGED, "the photo is damaged: decoding it failed")


def _launch_child(limits: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process, and our end of its wire."""
    own_socket, child_socket = socket.socketpair()
    with child_socket:
        command = [
            sys.executable,
            "-m",
            "deployments.gateway.photos.decode_in_child",
            str(child_socket.fileno()),
            limits,
        ]
        # it decodes what strangers send: none of the keys in our environment are any of its business
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        try:
            process = subprocess.Popen(
                command, pass_fds=[child_socket.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        except OSError:
            own_socket.close()
            raise
    return process, own_socket
