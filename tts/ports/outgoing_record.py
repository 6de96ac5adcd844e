"""The port of the record of what tools sent to services outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.domain.outgoing import Outgoing


class OutgoingRecord(Protocol):
    """Knows what tools sent to services outside, and keeps what others sent beside it."""

    async def about(self, request_id: str) -> tuple[Outgoing, ...]:
        """Everything tools sent for a request so far, in order.

        Raises:
            GeoTTSError: a part of the record cannot be asked.
        """

    async def note(self, sent: Sequence[Outgoing]) -> None:
        """Write down what was sent by others than tools, where a file is kept.

        Raises:
            GeoTTSError: the file cannot be written.
        """
