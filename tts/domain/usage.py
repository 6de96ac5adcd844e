"""See `geotts_client.usage`: the client and the service share these values."""

from geotts_client.usage import (
    Count,
    Usage,
)

__all__ = ["Count", "Usage"]
