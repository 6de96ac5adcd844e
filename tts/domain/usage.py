"""See `geotts_client.usage`: the client and the service share these values."""

from geotts_client.usage import (
    Count,
    ModelUsage,
    Usage,
)

__all__ = ["Count", "ModelUsage", "Usage"]
