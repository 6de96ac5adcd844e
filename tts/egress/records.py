"""Records what left this process, by request: what engines sent, and what tools sent.

The transports record: `Connection` of engines, `SafeHttpClient` and MCP of tools, photos and webhooks. Their callers
give the id of the request, and nothing else. A record is made when the bytes are sent, so it exists even if the request
then fails. Another process passes on its records (`deployments.serve.envelope`); the pipeline takes all of them when a
request ends (`tts.egress.request_egress`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tts.domain.outgoing_request import Outgoing

RecordOutgoing = Callable[[Outgoing], None]
"""Where a transport puts its records: `EGRESS.record`, or the egress log of the tools, which also writes the file."""
_MAX_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class EgressRecord:
    """What left this machine for a request of a caller.

    `outgoing` is one request that was sent. It is None when a process was lost that worked for the request: it may have
    sent something that it could not report any more. `in_file` says that the process that sent it also wrote it into
    the egress log.
    """

    request_id: str
    outgoing: Outgoing | None
    in_file: bool = False

    @property
    def unwritten(self) -> tuple[Outgoing, ...]:
        """What the egress log does not have yet: the record, or nothing."""
        return () if self.outgoing is None or self.in_file else (self.outgoing,)


class EgressRecords:
    """Records that have not been taken yet. If there are too many requests, those of the oldest requests are
    dropped."""

    def __init__(self) -> None:
        self._records: dict[str, list[EgressRecord]] = {}
        self._watchers: dict[str, list[asyncio.Event]] = {}

    def record(self, outgoing: Outgoing, *, in_file: bool = False) -> None:
        """Record a call that is about to be sent. A call without a request (a check, a start) is not recorded."""
        self.add(EgressRecord(outgoing.request_id, outgoing, in_file))

    def add(self, record: EgressRecord) -> None:
        """Keep a record of this process, or of another one that works for the same request."""
        if not record.request_id:
            return
        self._records.setdefault(record.request_id, []).append(record)
        if len(self._records) > _MAX_REQUESTS:
            del self._records[next(iter(self._records))]
        for news in self._watchers.get(record.request_id, ()):
            news.set()

    def take(self, request_id: str) -> tuple[EgressRecord, ...]:
        """What was recorded for a request and not taken before, in order."""
        return tuple(self._records.pop(request_id, ()))

    def has_records(self, request_id: str) -> bool:
        """Whether something was recorded for a request and not taken."""
        return request_id in self._records

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


EGRESS = EgressRecords()
"""The one of this process."""
