"""Records what engines sent out of this process, by request; what tools sent is in `tts.toolkit.broker.egress_log`.

A record is made when the bytes are sent, so it exists even if the request then fails. Another process passes on its
records (`deployments.serve.envelope`); the pipeline takes all of it when a request ends
(`tts.request_egress`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from tts.domain.outgoing import Outgoing

_MOST_REQUESTS = 10_000


class Egress:
    """Records that have not been taken yet. If there are too many requests, those of the oldest requests are
    dropped."""

    def __init__(self) -> None:
        self._sent: dict[str, list[Outgoing]] = {}
        self._watched: dict[str, list[asyncio.Event]] = {}

    def note(self, sent: Outgoing) -> None:
        """Record a call that is about to be sent. A call without a request (a check, a start) is not recorded."""
        if not sent.request_id:
            return
        self._sent.setdefault(sent.request_id, []).append(sent)
        if len(self._sent) > _MOST_REQUESTS:
            del self._sent[next(iter(self._sent))]
        for news in self._watched.get(sent.request_id, ()):
            news.set()

    def take(self, request_id: str) -> tuple[Outgoing, ...]:
        """What was recorded for a request and not taken before, in order."""
        return tuple(self._sent.pop(request_id, ()))

    @contextmanager
    def watch(self, request_id: str) -> Iterator[asyncio.Event]:
        """Within the block the event is set whenever something is recorded for the request."""
        news = asyncio.Event()
        watching = self._watched.setdefault(request_id, [])
        watching.append(news)
        try:
            yield news
        finally:
            watching.remove(news)
            if not watching:
                self._watched.pop(request_id, None)


EGRESS = Egress()
"""The one of this process."""
