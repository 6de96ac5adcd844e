"""See `geotts_client.outgoing`: the client and the service share these values."""

from geotts_client.outgoing import (
    Outgoing,
    rfc3339,
)

__all__ = ["Outgoing", "rfc3339"]
