"""Two ways to locate a photo for an evaluation: in this process, or by a running server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from tts.aio import closing
from tts.api.client import Client
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import LocateOptions, LocateRequest
from tts.domain.trajectory import Run, fold
from tts.errors import Overloaded
from tts.pipeline import solve
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment

_MAX_TRIES = 5
_MAX_PAUSE_S = 30.0


class LocalSolver:
    """`tts.pipeline.solve` over ports of this process."""

    def __init__(self, ports: Ports, *, deadline_s: float) -> None:
        self._ports = ports
        self._deadline_s = deadline_s

    async def __call__(self, request_id: str, photo: bytes, options: LocateOptions) -> Run:
        """Raises PhotoError for bytes that are no photo. A deadline in the options wins over the solver's."""
        clean = await asyncio.to_thread(load_photo, photo)
        request = LocateRequest(id=request_id, photos=(clean,), options=options)
        deadline_s = options.wanted_s or self._deadline_s
        async with closing(solve(request, self._ports, deadline_s=deadline_s)) as items:
            events = [item async for item in items if not isinstance(item, Attachment)]
        return fold(events)


class RemoteSolver:
    """A running server behind `Client`; a busy one is asked again when it says so."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, request_id: str, photo: bytes, options: LocateOptions) -> Run:
        """Five tries while the server is busy; the last one raises Overloaded. `request_id` is not sent."""
        for attempt in range(1, _MAX_TRIES):
            try:
                return await self._run(photo, options)
            except Overloaded as busy:
                await asyncio.sleep(min(_MAX_PAUSE_S, busy.retry_after_s * attempt))
        return await self._run(photo, options)

    async def _run(self, photo: bytes, options: LocateOptions) -> Run:
        """Also of a request that failed: what its rollouts did is worth a record."""
        async with aclosing(self._client.stream(photo, options)) as events:
            return fold([event async for event in events])
