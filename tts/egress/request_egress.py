"""What left the machine for one request: the event `left_machine` at its end, and its lines in the egress log.

Transports record each request as it goes out (`tts.egress.records`), in this process or in those that work for it. So
it is known also when the request is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from tts.domain.events import LeftMachine
from tts.domain.outgoing_request import Outgoing
from tts.egress.log_writer import EgressLogWriter
from tts.egress.records import EGRESS, EgressRecord
from tts.errors import FatalError, GeoTTSError, boundary

_WRITE_TIMEOUT_S = 2.0
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class RequestEgress:
    """The egress of one request.

    Args:
        request_id: the id that the records carry.
        egress_log: where the records are kept after the request has ended; None for nowhere.
        engines: the engines on other machines, as the event lists them.
        may_send: an engine or a tool may call another machine.
        before: what left before the work began; it is not in the log yet.
        complete: False where some of what left cannot be known any more.
    """

    request_id: str
    egress_log: EgressLogWriter | None
    engines: tuple[str, ...]
    may_send: bool
    before: Sequence[EgressRecord] = ()
    complete: bool = True
    _outgoing: list[Outgoing] = field(default_factory=list, init=False)

    async def to_event(self) -> LeftMachine | None:
        """The event; None when nothing left. Never raises. `complete` is false if a process was lost that may have sent
        something."""
        found = [*self.before, *EGRESS.take(self.request_id)]
        self.before = ()
        self._outgoing += [record.outgoing for record in found if record.outgoing is not None]
        self.complete &= all(record.outgoing is not None for record in found)
        await write_to_log(self.egress_log, found)
        complete = self.complete or not self.may_send
        if not (self.engines or self._outgoing) and complete:
            return None
        in_order = tuple(sorted(self._outgoing, key=lambda one: one.at))
        return LeftMachine(engines=self.engines, sent=in_order, complete=complete)


async def write_to_log(egress_log: EgressLogWriter | None, records: Sequence[EgressRecord]) -> None:
    """Add records to the egress log. Never raises: the event log and the audit log have it too."""
    if egress_log is None or not any(record.unwritten for record in records):
        return
    try:
        async with asyncio.timeout(_WRITE_TIMEOUT_S):
            with boundary(FatalError, "the egress log"):
                await egress_log.write_egress(records)
    except (GeoTTSError, TimeoutError):
        _log.warning("the egress log was not written", extra={"request_id": records[0].request_id})
