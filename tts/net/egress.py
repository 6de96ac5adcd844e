"""Records what left this process, by request: what engines sent, and what tools sent.

The transports record: `Connection` of engines, `SafeHttpClient` and MCP of tools, photos and webhooks. Their callers
give the id of the request, and nothing else. A record is made when the bytes are sent, so it exists even if the request
then fails. Another process passes on its records (`deployments.serve.envelope`); the pipeline takes all of them when a
request ends (`tts.request_egress`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tts.domain.outgoing_request import Outgoing

Record = Callable[[Outgoing], None]
"""Where a transport puts its records: `EGRESS.record`, or the egress log of the tools, which also keeps the file."""
_MOST_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class Departure:
    """Something that left this machine for a request.

    `outgoing` is None when a process was lost that worked for the request: it may have sent something that it could not
    report any more. `in_file` says that the process that sent it also wrote it into the egress log.
    """

    request_id: str
    outgoing: Outgoing | None
    in_file: bool = False

    @property
    def unwritten(self) -> tuple[Outgoing, ...]:
        """What the egress log does not have yet: the record, or nothing."""
        return () if self.outgoing is None or self.in_file else (self.outgoing,)


class Egress:
    """Records that have not been taken yet. If there are too many requests, those of the oldest requests are
    dropped."""

    def __init__(self) -> None:
        self._departures: dict[str, list[Departure]] = {}
        self._watchers: dict[str, list[asyncio.Event]] = {}

    def record(self, outgoing: Outgoing, *, in_file: bool = False) -> None:
        """Record a call that is about to be sent. A call without a request (a check, a start) is not recorded."""
        self.note(Departure(outgoing.request_id, outgoing, in_file))

    def note(self, departure: Departure) -> None:
        """Keep a record of this process, or of another one that works for the same request."""
        if not departure.request_id:
            return
        self._departures.setdefault(departure.request_id, []).append(departure)
        if len(self._departures) > _MOST_REQUESTS:
            del self._departures[next(iter(self._departures))]
        for news in self._watchers.get(departure.request_id, ()):
            news.set()

    def take(self, request_id: str) -> tuple[Departure, ...]:
        """What was recorded for a request and not taken before, in order."""
        return tuple(self._departures.pop(request_id, ()))

    def holds(self, request_id: str) -> bool:
        """Whether something was recorded for a request and not taken."""
        return request_id in self._departures

    @contextmanager
    def watch(self, request_id: str) -> Iterator[asyncio.Event]:
        """Within the block the event is set whenever something is recorded for the request."""
        news = asyncio.Event()
        watching = self._watchers.setdefault(request_id, [])
        watching.append(news)
        try:
            yield news
        finally:
            watching.remove(news)
            if not watching:
                self._watchers.pop(request_id, None)


EGRESS = Egress()
"""The one of this process."""
