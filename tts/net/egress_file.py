"""The file that keeps the egress after its request has ended (`tools.outgoing_log`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.net.egress import Departure


class EgressFile(Protocol):
    """The file, in this process or in that of the tools. Nothing is written where no file is configured."""

    async def add(self, departures: Sequence[Departure]) -> None:
        """Write those that the process which sent them has not written.

        Args:
            departures: of one request or several, in the order in which they were sent.

        Raises:
            GeoTTSError: the file cannot be written.
        """
