"""A request that is arriving. It has its id before its body is read, so that the egress for its photos has this id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from deployments.gateway.auth import Caller
from deployments.gateway.continued_request import Continuation
from tts.aio import Milestone
from tts.domain.outgoing_request import Outgoing
from tts.domain.request import LocateOptions, new_request_id
from tts.egress.records import EGRESS

Fetch = Callable[[str], Awaitable[bytes]]


class PhotoSource(Protocol):
    """Gets photos from URLs."""

    async def __call__(self, url: str, *, request_id: str) -> bytes:
        """Get one photo.

        Args:
            url: where the photo is, as the caller wrote it.
            request_id: the request whose egress this is.

        Returns:
            The bytes of the photo; nothing has decoded them yet.

        Raises:
            FetchError: the photo cannot be had from this URL.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocateBody:
    """The content of a request: options, photos as they were sent, and the data of the earlier request if it continues
    one.
    """

    options: LocateOptions
    photos: list[bytes]
    continuation: Continuation | None = None


@dataclass(slots=True)
class Arrival:
    """`request_id` becomes that of an earlier request when this one turns out to repeat it. Once it is `launched`, its
    egress so far is reported with the egress of the run. `rollouts_started` is reached when its first rollout has asked
    its engine, or has been sent to the process that does.
    """

    caller: Caller = field(default_factory=Caller)
    request_id: str = field(default_factory=new_request_id)
    launched: bool = False
    rollouts_started: Milestone = field(default_factory=Milestone)
    fetch_slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    _photo_egress: list[Outgoing] = field(default_factory=list, init=False)
    _recorded_id: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._recorded_id = self.request_id

    def fetch_from(self, source: PhotoSource | None) -> Fetch | None:
        """`source` for this request; None where nothing is fetched."""
        if source is None:
            return None

        async def fetch(url: str) -> bytes:
            async with self.fetch_slot():
                return await source(url, request_id=self._recorded_id)

        return fetch

    def egress(self) -> tuple[Outgoing, ...]:
        """The egress so far, with the id of the request. It is taken from the log of this process, where the transport
        recorded it under the id that the request had when it arrived."""
        records = EGRESS.take(self._recorded_id)
        self._photo_egress += [record.outgoing for record in records if record.outgoing is not None]
        return tuple(one.model_copy(update={"request_id": self.request_id}) for one in self._photo_egress)
