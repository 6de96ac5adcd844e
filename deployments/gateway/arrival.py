"""A request that is arriving. It has its id before its body is read, so that the egress for its photos has this id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from deployments.gateway.auth import Caller
from tts.aio import Milestone
from tts.domain.outgoing import Outgoing
from tts.domain.request import new_request_id

Fetch = Callable[[str], Awaitable[bytes]]


class PhotoSource(Protocol):
    """Gets a photo from a URL. Raises FetchError."""

    async def __call__(self, url: str, *, request_id: str, record: Callable[[Outgoing], None]) -> bytes:
        """`record` is called with each request that is sent, redirects included."""
        ...


@dataclass(slots=True)
class Arrival:
    """`request_id` becomes that of an earlier request when this one turns out to repeat it. Once it is `launched`, its
    egress so far is reported with the egress of the run. `rollouts_started` is reached when its first rollout has asked
    its engine.
    """

    caller: Caller = field(default_factory=Caller)
    request_id: str = field(default_factory=new_request_id)
    fetched: list[Outgoing] = field(default_factory=list)
    launched: bool = False
    rollouts_started: Milestone = field(default_factory=Milestone)
    fetch_slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext

    def fetching(self, source: PhotoSource | None) -> Fetch | None:
        """`source`, recorded; None where nothing is fetched."""
        if source is None:
            return None

        async def fetch(url: str) -> bytes:
            async with self.fetch_slot():
                return await source(url, request_id=self.request_id, record=self._note)

        return fetch

    def _note(self, request: Outgoing) -> None:
        self.fetched.append(request.without_query())

    def egress(self) -> tuple[Outgoing, ...]:
        """The egress so far, with the id of the request."""
        return tuple(one.model_copy(update={"request_id": self.request_id}) for one in self.fetched)
