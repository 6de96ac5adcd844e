"""See `geotts_client.region`: the client and the service share this value."""

from geotts_client.region import Region as Region
