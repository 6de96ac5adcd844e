"""See `geotts_client.outgoing_request`: the client and the service share these values."""

from geotts_client.outgoing_request import (
    Outgoing,
    rfc3339,
)

__all__ = ["Outgoing", "rfc3339"]
