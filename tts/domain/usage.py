"""See `geotts_client.usage`: the client and the service share these values."""

from geotts_client.usage import Count as Count
from geotts_client.usage import ModelUsage as ModelUsage
from geotts_client.usage import Usage as Usage

NO_USAGE = Usage()
"""The usage where nothing was used: the beginning of a sum."""
