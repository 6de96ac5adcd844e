"""What left the machine for a request, as the event that tells it."""

from __future__ import annotations

import asyncio

from tts.domain.events import LeftMachine
from tts.domain.outgoing import Outgoing
from tts.errors import FatalError, GeoTTSError, boundary
from tts.ports import Ports

_PATIENCE_S = 2.0


async def what_left(ports: Ports, request_id: str) -> LeftMachine | None:
    """None when nothing left. Never raises, never takes long: what could not be learnt is marked as not complete."""
    sent: tuple[Outgoing, ...] = ()
    complete = True
    if ports.outgoing is not None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                with boundary(FatalError, "the outgoing record"):
                    sent = await ports.outgoing.about(request_id)
        except (GeoTTSError, TimeoutError):
            complete = False
    engines = ports.identity.remote_engines
    return LeftMachine(engines=engines, sent=sent, complete=complete) if engines or sent or not complete else None
