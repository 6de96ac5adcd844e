"""See `geotts_client.sync_client`."""

from geotts_client.sync_client import (
    SyncClient,
)

__all__ = ["SyncClient"]
