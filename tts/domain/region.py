"""See `geotts_client.region`: the client and the service share this value."""

from geotts_client.region import Region

__all__ = ["Region"]
