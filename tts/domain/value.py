"""See `geotts_client.value`: the client and the service share these values."""

from geotts_client.value import Value as Value
