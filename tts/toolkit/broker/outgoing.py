"""The record of what left the machine: to whom, what, when, for which request. The latest in memory, all in a file.

What is asked often goes out once: a request whose calls were answered from the cache left nothing and is not in it.
"""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path

from tts.net.policy import Outgoing

_KEPT = 10_000
_log = logging.getLogger(__name__)


class OutgoingLog:
    """Called with each request that leaves. `path` is a JSONL file that is appended to, one line a request."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._latest: deque[Outgoing] = deque(maxlen=_KEPT)

    def __call__(self, sent: Outgoing) -> None:
        self._latest.append(sent)
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(sent.json_bytes() + b"\n")
        except OSError:
            _log.warning("the outgoing record cannot be written")

    def about(self, request_id: str) -> tuple[Outgoing, ...]:
        """What left for one request, as far as it is remembered here."""
        return tuple(sent for sent in self._latest if sent.request_id == request_id)
