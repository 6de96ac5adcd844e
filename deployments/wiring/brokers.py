"""All brokers of an installation as one object, for the questions of the gateway (counts, the egress log, erasure).

Every Tools replica has counts, an egress log and perhaps a cache and a tape of its own, so each question goes to
all of them. In process there is one. Nothing here knows Ray: `deployments.serve.remote_brokers` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from deployments.wiring.toolbox_assembly import Tooling
from tts.egress.log_writer import EgressLogWriter
from tts.egress.records import EgressRecord
from tts.errors import GeoTTSError
from tts.ports.toolbox import Toolbox
from tts.toolkit.broker.cache_store import StoreError
from tts.toolkit.broker.stats import BrokerSnapshot
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox


class NotErased(GeoTTSError):
    """The stored tool results of a photo could not be erased everywhere. The request still exists, so erase it
    again."""

    code = "not-erased"
    status = 503


class Brokers(EgressLogWriter, Protocol):
    """Every method may raise GeoTTSError when a replica does not answer."""

    async def forget(self, request_id: str, photos: Sequence[str]) -> None:
        """Erase what belongs to these photos from caches and tapes, and what was written of the request.

        Args:
            request_id: the request, also if it is unknown here.
            photos: the SHA-256 of each of its photos, in hexadecimal.

        Raises:
            NotErased: a replica did not answer, or a file or store cannot be written.
        """
        ...

    async def region(self, name: str, to: str) -> bytes | None:
        """Return the JPEG that is shown to search services under a name.

        Args:
            name: the last part of the URL that the service was given.
            to: the address that asks for it, for the list of what left the machine.

        Returns:
            None when there is none, or when it was fetched as often as it may be: each call that returns it counts.
        """
        ...

    async def purge(self) -> None:
        """Let go of what is past its time. Raises NotErased when a file cannot be written."""
        ...

    async def snapshots(self) -> Mapping[str, BrokerSnapshot]:
        """Ask all brokers what they have done.

        Returns:
            Counts and latencies since the start, by replica.
        """
        ...


class LocalBrokers:
    """The `Brokers` of one process: its broker, and the toolbox around it when that records a tape."""

    def __init__(self, tooling: Tooling, toolbox: Toolbox, *, retention_s: float, name: str = "local") -> None:
        self._tooling = tooling
        self._retention_s = retention_s
        self._name = name
        self._tape = toolbox if isinstance(toolbox, RecordingToolbox) else None

    async def write_egress(self, records: Sequence[EgressRecord]) -> None:
        """Append to the file of the egress log, if there is one."""
        self._tooling.egress_log.write([sent for record in records for sent in record.unwritten])

    async def forget(self, request_id: str, photos: Sequence[str]) -> None:
        """Erase from the broker's cache, the tape and the egress log, in this order."""
        try:
            for photo in photos:
                await self._tooling.broker.forget(photo)
                if self._tape is not None:
                    await self._tape.forget(photo)
            await self._tooling.egress_log.forget(request_id)
        except OSError as error:
            raise _unwritable_error(error) from error
        except StoreError as error:
            raise NotErased(error.detail) from error

    async def region(self, name: str, to: str) -> bytes | None:
        """Each call that finds it uses up one of the times that the region may be fetched."""
        shelf = self._tooling.catalog.shelf
        return None if shelf is None else shelf.take(name, to)

    async def purge(self) -> None:
        """Purge the broker's cache, and the egress log of what is older than the retention."""
        await self._tooling.broker.purge()
        try:
            await self._tooling.egress_log.purge(self._retention_s)
        except OSError as error:
            raise _unwritable_error(error) from error

    async def snapshots(self) -> Mapping[str, BrokerSnapshot]:
        """One snapshot, under the name of this process."""
        return {self._name: self._tooling.broker.snapshot()}

    async def aclose(self) -> None:
        """Close the connections of all providers and of the cache."""
        await self._tooling.aclose()


def _unwritable_error(error: OSError) -> NotErased:
    return NotErased(f"a file of the tools cannot be written: {error.strerror}")
