"""Pictures that the gateway serves to a search service while one call runs.

They are in memory, in the process that makes the call; a gateway asks for them by name when somebody fetches one. A
name has 256 bits of chance. There is no list, nothing is written down but that it happened, and what is over its time
or has been fetched often enough is as if it had never been.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tools.region_search.picture import RegionPicture
from tts.domain.outgoing_request import Outgoing
from tts.domain.request import RequestContext
from tts.egress.records import EGRESS, RecordOutgoing
from tts.net.secret import Scrubber, Secret

PATH = "/regions"
NAME_PATTERN = r"^[A-Za-z0-9_-]{43}\.jpg$"
_SHOWN_CHARS = 8  # of a name in the record: enough to know lines of one picture, not enough to fetch it


@dataclass(slots=True)
class _ServedPicture:
    data: bytes
    until: float
    fetches: int
    request_id: str


class RegionShelf:
    """The `RegionUpload` over the gateway's route. It records each picture that is offered, served or withdrawn.

    Args:
        public_url: where search services reach the gateway.
        expires_s: seconds after which a picture is not served any more.
        max_fetches: how often a picture is served.
        scrubber: hides the names of pictures in what is logged.
        record: called with each picture that is offered, served or withdrawn.
        now: a clock in seconds.
    """

    def __init__(
        self,
        public_url: str,
        *,
        expires_s: float,
        max_fetches: int,
        scrubber: Scrubber,
        record: RecordOutgoing = EGRESS.record,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._base = public_url.rstrip("/") + PATH
        self._expires_s = expires_s
        self._max_fetches = max_fetches
        self._scrubber = scrubber
        self._record = record
        self._now = now
        self._pictures: dict[str, _ServedPicture] = {}

    def __len__(self) -> int:
        return len(self._pictures)

    @asynccontextmanager
    async def lend(self, picture: RegionPicture, context: RequestContext) -> AsyncIterator[str]:
        """A URL of the gateway; the name is kept out of logs while it is good."""
        key = secrets.token_urlsafe(32)
        name = f"{key}.jpg"
        host = urlsplit(self._base).hostname or ""
        self._pictures[name] = _ServedPicture(
            picture.data, self._now() + self._expires_s, self._max_fetches, context.id
        )
        self._record_access("OFFER", host, name, 0, context.id)
        try:
            with self._scrubber.hide(Secret(key)):
                yield f"{self._base}/{name}"
        finally:
            del self._pictures[name]
            self._record_access("WITHDRAW", host, name, 0, context.id)

    def take(self, name: str, to: str) -> bytes | None:
        """Serve a picture to a search service; it counts as a fetch.

        Args:
            name: the last part of the URL that `lend` returned.
            to: the address that fetches it, for the record.

        Returns:
            The bytes of a JPEG; None when there is none of this name, or no longer.
        """
        item = self._pictures.get(name)
        if item is None or item.fetches == 0 or self._now() >= item.until:
            return None
        item.fetches -= 1
        self._record_access("SERVE", to, name, len(item.data), item.request_id)
        return item.data

    def _record_access(self, method: str, host: str, name: str, size: int, request_id: str) -> None:
        url = f"{self._base}/{name[:_SHOWN_CHARS]}…"
        self._record(Outgoing.now(host=host, method=method, url=url, bytes_sent=size, request_id=request_id))
