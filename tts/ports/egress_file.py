"""The port of the file that lists what left the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.domain.outgoing import Outgoing


class EgressFile(Protocol):
    """The file of `tools.outgoing_log`, where one is configured."""

    async def note(self, sent: Sequence[Outgoing]) -> None:
        """Write down what was sent, where a file is kept.

        Raises:
            GeoTTSError: the file cannot be written.
        """
