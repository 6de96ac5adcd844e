"""The brokers of all Tools replicas, over Serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ray.serve.handle import DeploymentHandle

from deployments.serve.handles import remote_all, remote_call
from deployments.wiring.brokers import NotErased
from tts.config import ToolsConfig
from tts.egress.records import EgressRecord
from tts.errors import GeoTTSError
from tts.toolkit.broker.stats import BrokerSnapshot

_ERASE_TIMEOUT_S = 8.0
_ASK_TIMEOUT_S = 1.5


class RemoteBrokers:
    """The `Brokers` of the Tools deployment. Nothing is sent to a replica for a file that is not configured."""

    def __init__(self, handle: DeploymentHandle[Any], config: ToolsConfig) -> None:
        self._handle = handle
        self._config = config

    async def write_egress(self, records: Sequence[EgressRecord]) -> None:
        """One replica writes it down; nothing happens unless `tools.outgoing_log` is configured."""
        if self._config.outgoing_log is not None:
            await remote_call(self._handle.write_egress, tuple(records))

    async def forget(self, request_id: str, photos: Sequence[str]) -> None:
        """Asks all replicas. NotErased also when one does not answer within 8 s."""
        try:
            await remote_all(self._handle, "forget", request_id, tuple(photos), within_s=_ERASE_TIMEOUT_S)
        except NotErased:
            raise
        except GeoTTSError as error:
            raise NotErased(
                f"the tools did not answer, so what they kept may still be there: {error.detail}"
            ) from error

    async def region(self, name: str, to: str) -> bytes | None:
        """The replica that lends it has it; the route bounds how many are asked for at once."""
        if not self._config.serves_regions:
            return None
        parts: list[bytes | None] = await remote_all(self._handle, "region", name, to, within_s=_ASK_TIMEOUT_S)
        return next((data for data in parts if data is not None), None)

    async def purge(self) -> None:
        """Asks all replicas. Raises GeoTTSError when one does not answer within 8 s."""
        await remote_all(self._handle, "purge", within_s=_ERASE_TIMEOUT_S)

    async def snapshots(self) -> Mapping[str, BrokerSnapshot]:
        """Asks all replicas. Raises GeoTTSError when one does not answer within 1.5 s."""
        parts: list[Mapping[str, BrokerSnapshot]] = await remote_all(self._handle, "snapshots", within_s=_ASK_TIMEOUT_S)
        return {name: snapshot for part in parts for name, snapshot in part.items()}
