"""What left the machine for one request: the event `left_machine` at its end, and its lines in the egress log.

Transports record each request as it goes out (`tts.net.egress`), in this process or in those that work for it. So it
is known also when the request is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from tts.domain.events import LeftMachine
from tts.domain.outgoing_request import Outgoing
from tts.errors import FatalError, GeoTTSError, boundary
from tts.net.egress import EGRESS, Departure
from tts.net.egress_file import EgressFile
from tts.ports.request_ports import Ports

_PATIENCE_S = 2.0
_log = logging.getLogger(__name__)


class RequestEgress:
    """The egress of one request.

    Args:
        before: what left before the work began; it is not in the file yet.
        complete: False where some of what left cannot be known any more.
    """

    def __init__(
        self, ports: Ports, request_id: str, before: Iterable[Outgoing] = (), *, complete: bool = True
    ) -> None:
        self._file = ports.egress_file
        self._engines = ports.identity.remote_engines
        self._may_send = ports.may_send
        self._id = request_id
        self._outgoing: list[Outgoing] = []
        self._unwritten = [Departure(request_id, outgoing) for outgoing in before]
        self._is_complete = complete

    async def to_event(self) -> LeftMachine | None:
        """The event; None when nothing left. Never raises. `complete` is false if a process was lost that may have sent
        something."""
        found = [*self._unwritten, *EGRESS.take(self._id)]
        self._unwritten.clear()
        self._outgoing += [departure.outgoing for departure in found if departure.outgoing is not None]
        self._is_complete &= all(departure.outgoing is not None for departure in found)
        await write_down(self._file, found)
        complete = self._is_complete or not self._may_send
        if not (self._engines or self._outgoing) and complete:
            return None
        in_order = tuple(sorted(self._outgoing, key=lambda one: one.at))
        return LeftMachine(engines=self._engines, sent=in_order, complete=complete)


async def write_down(file: EgressFile | None, departures: Sequence[Departure]) -> None:
    """Add to the file of what left. Never raises: the event log and the audit log have it too."""
    if file is None or not any(departure.unwritten for departure in departures):
        return
    try:
        async with asyncio.timeout(_PATIENCE_S):
            with boundary(FatalError, "the egress log"):
                await file.add(departures)
    except (GeoTTSError, TimeoutError):
        _log.warning("the egress log was not written", extra={"request_id": departures[0].request_id})
