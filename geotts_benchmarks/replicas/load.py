"""Steady load on a running service: clients that ask again as soon as they are answered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from geotts_benchmarks.harness import TimedRequest, locate
from tts.aio import cancel_and_wait, spawn
from tts.domain.events import Event, RolloutFinished, RolloutResumed


@dataclass(slots=True)
class Load:
    """What the clients of one run saw. `resumed_at` are the moments (perf_counter) rollouts went on elsewhere."""

    url: str
    photo: bytes
    fields: dict[str, Any]
    answered: list[TimedRequest] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    resumed_at: list[float] = field(default_factory=list)
    lost_rollouts: int = 0
    _is_stopping: bool = False

    async def keep(self, http: httpx.AsyncClient, clients: int) -> list[asyncio.Task[None]]:
        """Start `clients` clients; `finish` lets them end what they have begun."""
        return [spawn(self._run_client(http, i), name=f"client {i}") for i in range(clients)]

    async def finish(self, tasks: list[asyncio.Task[None]], *, within_s: float = 120.0) -> None:
        """Let the clients end their requests; one that takes longer than `within_s` is cancelled and is a failure."""
        self._is_stopping = True
        _, late = await asyncio.wait(tasks, timeout=within_s)
        for task in late:
            self.failures.append("a client was not answered in time")
            await cancel_and_wait(task)
        self._is_stopping = False

    async def send_request(self, http: httpx.AsyncClient, seed: int) -> bool:
        """One request; whether it was answered."""
        try:
            found = await locate(http, self.url, self.photo, seed=seed, on_event=self._watch, **self.fields)
        except httpx.HTTPError as error:
            self.failures.append(type(error).__name__)
            return False
        if found.failure:
            self.failures.append(found.failure)
            return False
        self.answered.append(found)
        return True

    async def _run_client(self, http: httpx.AsyncClient, number: int) -> None:
        asked = 0
        while not self._is_stopping:
            await self.send_request(http, seed=number * 1000 + asked)
            asked += 1

    def _watch(self, event: Event) -> None:
        if isinstance(event, RolloutResumed):
            self.resumed_at.append(time.perf_counter())
        elif isinstance(event, RolloutFinished) and event.error:
            self.lost_rollouts += 1
