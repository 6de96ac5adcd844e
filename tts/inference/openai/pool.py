"""Several endpoints that serve the same model, as one engine.

Rollouts about one photo use one endpoint, so that its prefix cache hits; while that is full, the least busy endpoint
gets them. A conversation stays at its endpoint. A new one is not sent to an endpoint that the last check found dead
while another works, nor to a drained one (`tts.inference.openai.endpoint.states`). An endpoint that fails
before its first word is left out for a while, twice as long after each further failure, and the conversation goes to
another one. If all are left out, the pool waits and tries again, as with a single endpoint.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from tts.aio import Deadline, closing
from tts.config import OpenAIEngine
from tts.config.setting_names import OF_ENGINE, SettingNames
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.errors import GeoTTSError
from tts.inference.openai.endpoint.states import STATES
from tts.inference.openai.engine import OpenAIModel
from tts.inference.openai.retry import Backoff
from tts.latest_entries import LatestEntries
from tts.ports.model_client import Delta, ModelRequest

_FIRST_EJECTION_S = 2.0
_MAX_EJECTION_S = 60.0
_MAX_SESSIONS = 4096


@dataclass(slots=True)
class _Member:
    url: str
    model: OpenAIModel
    most: int
    failures: int = 0
    out_until: float = 0.0

    @property
    def load(self) -> float:
        """Generations under way over those it takes side by side."""
        return self.model.running / min(self.most, self.model.traits.slots or self.most)

    def eject(self, now: float) -> None:
        self.out_until = now + min(_MAX_EJECTION_S, _FIRST_EJECTION_S * float(2**self.failures))
        self.failures += 1

    def serves(self) -> None:
        self.failures = 0
        self.out_until = 0.0


class EndpointPool:
    """A `ModelClient` over `base_url` and `base_urls` of an engine."""

    def __init__(self, config: OpenAIEngine, names: SettingNames = OF_ENGINE) -> None:
        self._retries = config.retries
        self._backoff = Backoff(config.backoff_s)
        self._members = [
            _Member(url, OpenAIModel(_config_for_one(config, url), names=names), config.max_running)
            for url in config.addresses
        ]
        self._member_by_session: LatestEntries[str, _Member] = LatestEntries(_MAX_SESSIONS)

    @property
    def name(self) -> str:
        """The name of the first endpoint's model: all endpoints serve the same one."""
        return self._members[0].model.name

    @property
    def price(self) -> Price | None:
        """What tokens cost; the endpoints serve the same model."""
        return self._members[0].model.price

    @property
    def running(self) -> int:
        """Generations that have started and not ended."""
        return sum(member.model.running for member in self._members)

    async def aclose(self) -> None:
        """Close idle connections."""
        for member in self._members:
            await member.model.aclose()

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Ask the chosen endpoint, and another one after a transient failure before any text was passed on.

        When all have failed it waits and begins again, `retries` times at most; then the last failure is raised.
        """
        deadline = Deadline(request.context.remaining_s)
        tried_members: list[_Member] = []
        rounds = 0
        while True:
            member = self._choose(request, tried_members)
            passed_on = False
            try:
                async with closing(member.model.generate(_set_remaining_time(request, deadline))) as deltas:
                    async for delta in deltas:
                        passed_on = passed_on or not delta.is_aside
                        yield delta
                member.serves()
                return
            except GeoTTSError as failure:
                if not failure.fields.get("transient"):
                    raise
                member.eject(_now())
                if passed_on:
                    raise
                tried_members.append(member)
                pause = 0.0
                if all(member in tried_members for member in self._available_members(request)):
                    pause = self._backoff.pause_s(rounds, failure.fields.get("retry_after_s"))
                    if rounds >= self._retries or pause >= deadline.remaining_s():
                        raise
                    tried_members, rounds = [], rounds + 1
            await asyncio.sleep(pause)

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """See `tts.ports.engine_offers.DrawsTogether`; where the photo is."""
        return await self._choose(request, []).model.draw(request, count)

    def _choose(self, request: ModelRequest, tried: list[_Member]) -> _Member:
        """Where the conversation is, else where the photo belongs, else where there is most room."""
        untried = [member for member in self._available_members(request) if member not in tried]
        healthy = [member for member in untried if member.out_until <= _now()] or untried
        chosen = self._member_by_session.get(request.session_id)
        if chosen not in healthy:
            photo = request.photos[0].sha256 if request.photos else request.session_id
            well = [member for member in healthy if not STATES.is_dead(member.url)] or healthy
            chosen = max(well, key=lambda member: _rank(member.url, photo))
            if chosen.load >= 1.0:
                chosen = min(well, key=lambda member: member.load)
        self._member_by_session[request.session_id] = chosen
        return chosen

    def _available_members(self, request: ModelRequest) -> list[_Member]:
        """Those that take this conversation: all but the draining ones, unless it is there already; all, where all are
        draining."""
        home = self._member_by_session.get(request.session_id)
        taking = [member for member in self._members if not STATES.is_draining(member.url)]
        if not taking or home is None or home in taking:
            return taking or self._members
        return [*taking, home]


def _config_for_one(config: OpenAIEngine, url: str) -> OpenAIEngine:
    """One endpoint, which does not wait and ask again: the pool does, or asks another."""
    return config.model_copy(update={"base_url": url, "base_urls": (), "retries": 0})


def _set_remaining_time(request: ModelRequest, deadline: Deadline) -> ModelRequest:
    return replace(request, context=request.context.model_copy(update={"remaining_s": deadline.remaining_s()}))


def _rank(url: str, photo: str) -> bytes:
    """Rendezvous hashing: each photo has its own order of the endpoints, which one more or less hardly changes."""
    return hashlib.sha256(f"{url}\n{photo}".encode()).digest()


def _now() -> float:
    return asyncio.get_running_loop().time()
