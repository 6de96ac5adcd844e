"""The interface that writes into the egress log: the log file is in this process, or in that of the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.egress.records import EgressRecord


class EgressLogWriter(Protocol):
    """Writes into the egress log (`tools.outgoing_log`). Nothing is written where no file is configured."""

    async def write_egress(self, records: Sequence[EgressRecord]) -> None:
        """Write those that the process which sent them has not written.

        Args:
            records: of one request or several, in the order in which they were sent.

        Raises:
            GeoTTSError: the file cannot be written.
        """
