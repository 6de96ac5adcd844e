"""See `geotts_client.outgoing_request`: the client and the service share these values."""

from geotts_client.outgoing_request import Outgoing as Outgoing
from geotts_client.outgoing_request import rfc3339 as rfc3339
