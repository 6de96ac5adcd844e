"""What left the machine for one request: the event `left_machine` at its end, and its lines in the egress log.

Transports record each request as it goes out (`tts.net.engine_egress`), in this process or in those that work for it.
So it is known also when the request is cancelled. The brokers of tools keep their own record
(`tts.toolkit.broker.egress_log`), which is read at the end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from tts.domain.events import LeftMachine
from tts.domain.outgoing import Outgoing
from tts.errors import FatalError, GeoTTSError, boundary
from tts.net.engine_egress import EGRESS
from tts.ports.outgoing_record import OutgoingRecord
from tts.ports.request_ports import Ports

_PATIENCE_S = 2.0
_log = logging.getLogger(__name__)


class RequestEgress:
    """The egress of one request.

    Args:
        sent: what went out before the work began.
        complete: False where some of what went out cannot be known any more.
    """

    def __init__(self, ports: Ports, request_id: str, sent: Iterable[Outgoing] = (), *, complete: bool = True) -> None:
        self._record = ports.outgoing
        self._engines = ports.identity.remote_engines
        self._id = request_id
        self._sent = list(sent)
        self._noted = 0
        self._complete = complete or not self._engines

    async def to_event(self) -> LeftMachine | None:
        """The event; None when nothing left. Never raises; without an answer of the record, `complete` is false."""
        complete, by_tools = self._complete, tuple[Outgoing, ...]()
        if self._record is not None:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    with boundary(FatalError, "the egress log"):
                        by_tools = await self._record.about(self._id)
            except (GeoTTSError, TimeoutError):
                complete = False
        self._sent += EGRESS.take(self._id)
        await self._write()
        sent = tuple(sorted((*self._sent, *by_tools), key=lambda one: one.at))
        if not (self._engines or sent) and complete:
            return None
        return LeftMachine(engines=self._engines, sent=sent, complete=complete)

    async def _write(self) -> None:
        fresh = tuple(self._sent[self._noted :])
        self._noted = len(self._sent)
        await write_down(self._record, fresh)


async def write_down(record: OutgoingRecord | None, sent: tuple[Outgoing, ...]) -> None:
    """Add to the file of what left. Never raises: the event log and the audit log have it too."""
    if record is None or not sent:
        return
    try:
        async with asyncio.timeout(_PATIENCE_S):
            with boundary(FatalError, "the egress log"):
                await record.note(sent)
    except (GeoTTSError, TimeoutError):
        _log.warning("the egress log was not written", extra={"request_id": sent[0].request_id})
