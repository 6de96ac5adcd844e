"""The record of what left the machine: to whom, what, when, for which request. The latest in memory, all in a file.

What is asked often goes out once: a request whose calls were answered from the cache left nothing and is not in it.
What belongs to a request is erased with it, in memory and in the file; what it still sends then is not written down.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from tts.domain.outgoing import Outgoing
from tts.toolkit.blanking import blank_lines
from tts.toolkit.forgotten import Forgotten

_KEPT = 10_000
_log = logging.getLogger(__name__)


class OutgoingLog:
    """Called with each request that leaves. `path` is a JSONL file that is appended to, one line a request."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._latest: deque[Outgoing] = deque(maxlen=_KEPT)
        self._forgotten = Forgotten()

    def __call__(self, sent: Outgoing) -> None:
        if self._forgotten.since(0, [sent.request_id]):
            return
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

    async def forget(self, request_id: str) -> int:
        """Erase what is written of a request; returns how many lines of the file that were. Raises OSError."""
        self._forgotten.add(request_id)
        self._keep(lambda sent: sent.request_id != request_id)
        if self._path is None:
            return 0
        name = request_id.encode()
        return await asyncio.to_thread(blank_lines, self._path, lambda line: name in line and _is_of(line, request_id))

    def purge(self, older_than_s: float) -> None:
        """Let go of what is remembered for longer; the file is the operator's to keep or cut."""
        oldest = (datetime.now(UTC) - timedelta(seconds=older_than_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._keep(lambda sent: sent.at >= oldest)

    def _keep(self, wanted: Callable[[Outgoing], bool]) -> None:
        self._latest = deque(filter(wanted, self._latest), maxlen=_KEPT)


def _is_of(line: bytes, request_id: str) -> bool:
    try:
        return Outgoing.model_validate_json(line).request_id == request_id
    except ValidationError:
        return False
